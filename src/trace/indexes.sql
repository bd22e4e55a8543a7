-- Built after the rows, which is several times faster than keeping them up to date.
CREATE INDEX kernel_by_device_time ON kernel_entry (device_id, start_ns);
CREATE INDEX host_call_by_time ON host_call_entry (start_ns);
CREATE INDEX memory_op_by_device_time ON memory_op_entry (device_id, start_ns);
CREATE INDEX allocation_by_address ON allocation_entry (process_id, address);
CREATE INDEX kernel_by_nvtx_range ON kernel_entry (nvtx_range_id) WHERE nvtx_range_id IS NOT NULL;
CREATE INDEX nvtx_range_by_time ON nvtx_range_entry (start_ns);
