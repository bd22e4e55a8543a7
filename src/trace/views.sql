-- The documented interface of trace.db.

CREATE VIEW meta AS SELECT key, value FROM meta_entry;

CREATE VIEW processes AS SELECT * FROM process_entry;

CREATE VIEW devices AS SELECT * FROM device_entry;

CREATE VIEW launches AS
SELECT c.call_id AS launch_id, c.process_id, c.thread_id, s.value AS api, c.start_ns, c.end_ns,
       c.end_ns - c.start_ns AS duration_ns, c.result, c.correlation_id, c.capturing
FROM host_call_entry c JOIN string_entry s ON s.string_id = c.api_id
WHERE c.category IN (1, 2);

CREATE VIEW host_calls AS
SELECT c.call_id, c.process_id, c.thread_id,
       CASE c.category WHEN 1 THEN 'launch' WHEN 2 THEN 'graph-launch' WHEN 3 THEN 'copy'
            WHEN 4 THEN 'synchronise' WHEN 5 THEN 'allocate' WHEN 6 THEN 'event' WHEN 7 THEN 'graph'
            WHEN 8 THEN 'module-load' ELSE 'other' END AS category,
       s.value AS api, c.start_ns, c.end_ns, c.end_ns - c.start_ns AS duration_ns, c.result, c.correlation_id
FROM host_call_entry c JOIN string_entry s ON s.string_id = c.api_id;

CREATE VIEW kernels AS
SELECT k.kernel_id, n.value AS name, m.value AS mangled_name, k.start_ns, k.end_ns,
       k.end_ns - k.start_ns AS duration_ns, k.process_id, k.device_id, k.context_id, k.stream_id,
       c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, c.block_z, c.registers_per_thread,
       c.static_shared_bytes, c.dynamic_shared_bytes, c.local_bytes_per_thread,
       k.correlation_id, k.call_id AS launch_id,
       k.graph_id, k.graph_node_id, k.arguments_id, k.nvtx_range_id
FROM kernel_entry k
JOIN kernel_config_entry c ON c.config_id = k.config_id
JOIN string_entry n ON n.string_id = c.name_id
JOIN string_entry m ON m.string_id = c.mangled_name_id;

CREATE VIEW kernel_arguments AS
SELECT a.arguments_id, l.parameter_index, l.byte_offset, l.size_bytes,
       substr(a.bytes, l.byte_offset + 1, l.size_bytes) AS value
FROM arguments_entry a JOIN arguments_layout_entry l ON l.layout_id = a.layout_id;

CREATE VIEW memory_ops AS
SELECT memory_op_id, process_id,
       CASE kind WHEN 1 THEN 'host-to-device' WHEN 2 THEN 'device-to-host' WHEN 3 THEN 'device-to-device'
            WHEN 4 THEN 'host-to-host' WHEN 5 THEN 'peer-to-peer' WHEN 6 THEN 'memset' ELSE 'other' END AS kind,
       device_id, context_id, stream_id, start_ns, end_ns, end_ns - start_ns AS duration_ns, bytes,
       correlation_id, graph_id, graph_node_id, pageable, source_address, destination_address
FROM memory_op_entry;

CREATE VIEW allocations AS
SELECT allocation_id, process_id, device_id, address, printf('0x%x', address) AS address_hex, bytes,
       start_ns, end_ns
FROM allocation_entry;

CREATE VIEW overheads AS
SELECT overhead_id, process_id, kind, start_ns, end_ns, end_ns - start_ns AS duration_ns FROM overhead_entry;

-- Times when a device ran neither a kernel, a copy nor a graph, between its first and its last.
CREATE VIEW gaps AS
WITH busy AS (
  SELECT device_id, start_ns, end_ns FROM kernel_entry WHERE start_ns > 0
  UNION ALL
  SELECT device_id, start_ns, end_ns FROM memory_op_entry WHERE start_ns > 0
  UNION ALL
  SELECT device_id, start_ns, end_ns FROM graph_launch_entry WHERE start_ns > 0
), ordered AS (
  SELECT device_id, start_ns,
         max(end_ns) OVER (PARTITION BY device_id ORDER BY start_ns, end_ns
                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS busy_until_ns
  FROM busy
)
SELECT device_id, busy_until_ns AS start_ns, start_ns AS end_ns, start_ns - busy_until_ns AS duration_ns
FROM ordered WHERE start_ns > busy_until_ns;

CREATE VIEW module_images AS
SELECT i.image_id, i.hash, CASE i.kind WHEN 1 THEN 'cubin' WHEN 2 THEN 'ptx' WHEN 3 THEN 'fat-binary' ELSE 'other' END AS kind,
       i.bytes, i.compression, length(i.data) AS stored_bytes,
       (SELECT count(*) FROM module_kernel_entry k WHERE k.image_id = i.image_id) AS kernels
FROM module_image_entry i;

CREATE VIEW module_loads AS
SELECT l.image_id, i.hash, l.process_id,
       CASE l.source WHEN 1 THEN 'module-loaded' WHEN 2 THEN 'load-call' WHEN 3 THEN 'file' ELSE 'other' END AS source, l.module_id, l.path
FROM module_load_entry l JOIN module_image_entry i ON i.image_id = l.image_id;

CREATE VIEW module_kernels AS
SELECT k.image_id, i.hash, s.value AS mangled_name
FROM module_kernel_entry k JOIN module_image_entry i ON i.image_id = k.image_id
JOIN string_entry s ON s.string_id = k.mangled_name_id;

CREATE VIEW recording_windows AS
SELECT window_id, process_id, start_ns, end_ns, end_ns - start_ns AS duration_ns,
       CASE start_bound WHEN 1 THEN 'process' WHEN 2 THEN 'time' WHEN 3 THEN 'frames' WHEN 4 THEN 'range'
            WHEN 5 THEN 'profiler-api' WHEN 6 THEN 'size-limit' WHEN 7 THEN 'write-failed' ELSE 'killed' END AS start_bound,
       CASE end_bound WHEN 1 THEN 'process' WHEN 2 THEN 'time' WHEN 3 THEN 'frames' WHEN 4 THEN 'range'
            WHEN 5 THEN 'profiler-api' WHEN 6 THEN 'size-limit' WHEN 7 THEN 'write-failed' ELSE 'killed' END AS end_bound,
       start_frames, end_frames
FROM window_entry;

CREATE VIEW graph_launches AS
SELECT g.graph_launch_id, g.process_id, g.device_id, g.context_id, g.stream_id, g.start_ns, g.end_ns,
       g.end_ns - g.start_ns AS duration_ns, g.correlation_id, g.graph_id, g.call_id AS launch_id,
       g.nvtx_range_id
FROM graph_launch_entry g;

-- Measured, in a run apart from the one that was timed. On an H200 the L2 bytes of a streaming kernel are 1.5
-- times what it reads and writes (ncu counts the same), probably what crosses between the halves of its L2.
CREATE VIEW kernel_traffic AS
SELECT t.kernel_id, n.value AS name, t.dram_read_bytes, t.dram_written_bytes, t.l2_read_bytes,
       t.l2_written_bytes, t.passes
FROM kernel_traffic_entry t
JOIN kernel_entry k ON k.kernel_id = t.kernel_id
JOIN kernel_config_entry c ON c.config_id = k.config_id
JOIN string_entry n ON n.string_id = c.name_id;

CREATE VIEW nvtx_domains AS
SELECT d.domain_id, d.process_id, s.value AS name, d.start_ns, d.end_ns
FROM nvtx_domain_entry d LEFT JOIN string_entry s ON s.string_id = d.name_id;

-- Push/pop and start/end ranges. The default domain has no name; a range that was left open has no end.
CREATE VIEW nvtx_ranges AS
SELECT r.range_id, r.process_id, r.thread_id,
       CASE r.kind WHEN 1 THEN 'push-pop' WHEN 2 THEN 'start-end' ELSE 'other' END AS kind,
       d.name AS domain, n.value AS name, r.start_ns, r.end_ns, r.end_ns - r.start_ns AS duration_ns,
       r.parent_range_id, r.level, nullif(r.category, 0) AS category, c.value AS category_name,
       CASE WHEN r.color IS NOT NULL THEN printf('#%08X', r.color) END AS color,
       CASE r.payload_type WHEN 1 THEN 'uint64' WHEN 2 THEN 'int64' WHEN 3 THEN 'double' WHEN 4 THEN 'uint32'
            WHEN 5 THEN 'int32' WHEN 6 THEN 'float' END AS payload_type, r.payload
FROM nvtx_range_entry r
LEFT JOIN nvtx_domains d ON d.domain_id = r.domain_id
LEFT JOIN string_entry n ON n.string_id = r.name_id
LEFT JOIN nvtx_category_entry k
  ON k.process_id = r.process_id AND k.domain_id = r.domain_id AND k.category = r.category
LEFT JOIN string_entry c ON c.string_id = k.name_id
WHERE r.kind <> 3;

CREATE VIEW nvtx_marks AS
SELECT r.range_id AS mark_id, r.process_id, r.thread_id, d.name AS domain, n.value AS name,
       r.start_ns AS time_ns, nullif(r.category, 0) AS category, c.value AS category_name,
       CASE WHEN r.color IS NOT NULL THEN printf('#%08X', r.color) END AS color,
       CASE r.payload_type WHEN 1 THEN 'uint64' WHEN 2 THEN 'int64' WHEN 3 THEN 'double' WHEN 4 THEN 'uint32'
            WHEN 5 THEN 'int32' WHEN 6 THEN 'float' END AS payload_type, r.payload
FROM nvtx_range_entry r
LEFT JOIN nvtx_domains d ON d.domain_id = r.domain_id
LEFT JOIN string_entry n ON n.string_id = r.name_id
LEFT JOIN nvtx_category_entry k
  ON k.process_id = r.process_id AND k.domain_id = r.domain_id AND k.category = r.category
LEFT JOIN string_entry c ON c.string_id = k.name_id
WHERE r.kind = 3;

CREATE VIEW nvtx_operators AS
SELECT o.range_id, r.process_id, r.thread_id, o.framework, s.value AS operator, o.sequence, o.op_id, o.shapes,
       o.input_op_ids, r.start_ns, r.end_ns
FROM nvtx_operator_entry o JOIN nvtx_range_entry r ON r.range_id = o.range_id
JOIN string_entry s ON s.string_id = o.operator_id;

CREATE VIEW captured_buffers AS
SELECT b.process_id, CASE b.after WHEN 0 THEN 'before' ELSE 'after' END AS moment, b.address,
       printf('0x%x', b.address) AS address_hex, b.bytes, c.hash
FROM captured_buffer_entry b LEFT JOIN captured_contents_entry c ON c.contents_id = b.contents_id;

CREATE VIEW captured_launches AS
SELECT process_id, step, correlation_id, arguments_id FROM captured_launch_entry;
