-- Tables of trace.db. They are private and change with `user_version`; read the views (views.sql) instead.
-- Every time is in nanoseconds of CLOCK_REALTIME. Names are bytes as the program gave them.

CREATE TABLE meta_entry (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE string_entry (string_id INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE process_entry (
  process_id INTEGER PRIMARY KEY,          -- the operating system's
  parent_process_id INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER,                          -- NULL: it ended without telling (killed)
  driver_version INTEGER NOT NULL,         -- 13000 for 13.0, 0 unknown
  cupti_version INTEGER NOT NULL,          -- CUPTI_API_VERSION of the library that recorded, 0 unknown
  dropped_records INTEGER NOT NULL,        -- by CUPTI, as it reported
  lost_bytes INTEGER NOT NULL              -- tail of the wire file that could not be read
) STRICT;

CREATE TABLE device_entry (
  device_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  uuid TEXT NOT NULL,
  compute_major INTEGER NOT NULL,
  compute_minor INTEGER NOT NULL,
  multiprocessors INTEGER NOT NULL,
  l2_bytes INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL,
  memory_bytes_per_second INTEGER NOT NULL -- theoretical; 0 unknown
) STRICT;

-- What is the same for every launch of one kernel with one configuration.
CREATE TABLE kernel_config_entry (
  config_id INTEGER PRIMARY KEY,
  mangled_name_id INTEGER NOT NULL REFERENCES string_entry,
  name_id INTEGER NOT NULL REFERENCES string_entry,
  grid_x INTEGER NOT NULL, grid_y INTEGER NOT NULL, grid_z INTEGER NOT NULL,
  block_x INTEGER NOT NULL, block_y INTEGER NOT NULL, block_z INTEGER NOT NULL,
  registers_per_thread INTEGER NOT NULL,
  static_shared_bytes INTEGER NOT NULL,
  dynamic_shared_bytes INTEGER NOT NULL,
  local_bytes_per_thread INTEGER NOT NULL
) STRICT;

CREATE TABLE kernel_entry (
  kernel_id INTEGER PRIMARY KEY,
  process_id INTEGER NOT NULL,
  config_id INTEGER NOT NULL REFERENCES kernel_config_entry,
  device_id INTEGER NOT NULL,
  context_id INTEGER NOT NULL,
  stream_id INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,               -- 0: CUPTI could not take the time
  end_ns INTEGER NOT NULL,
  correlation_id INTEGER NOT NULL,         -- shared by all kernels of one graph launch
  graph_id INTEGER NOT NULL,               -- 0: launched by itself
  graph_node_id INTEGER NOT NULL,
  call_id INTEGER REFERENCES host_call_entry, -- NULL: its launch call was not recorded
  arguments_id INTEGER NOT NULL,           -- 0: not recorded
  nvtx_range_id INTEGER                    -- NULL: none was open at the launch call
) STRICT;

-- Calls the program made to the driver: launches, copies, synchronisation, allocation.
CREATE TABLE host_call_entry (
  call_id INTEGER PRIMARY KEY,
  process_id INTEGER NOT NULL,
  thread_id INTEGER NOT NULL,
  category INTEGER NOT NULL,               -- trace::CallCategory
  api_id INTEGER NOT NULL REFERENCES string_entry,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  result INTEGER NOT NULL,                 -- the CUresult
  correlation_id INTEGER NOT NULL,
  capturing INTEGER NOT NULL               -- 1: the launch went into a graph being captured
) STRICT;

CREATE TABLE arguments_layout_entry (
  layout_id INTEGER NOT NULL,
  parameter_index INTEGER NOT NULL,
  byte_offset INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  PRIMARY KEY (layout_id, parameter_index)
) STRICT, WITHOUT ROWID;

-- The arguments of a launch byte for byte, stored once by content.
CREATE TABLE arguments_entry (
  arguments_id INTEGER PRIMARY KEY,
  layout_id INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;

CREATE TABLE memory_op_entry (
  memory_op_id INTEGER PRIMARY KEY,
  process_id INTEGER NOT NULL,
  kind INTEGER NOT NULL,                   -- trace::MemoryOpKind
  device_id INTEGER NOT NULL,
  context_id INTEGER NOT NULL,
  stream_id INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  correlation_id INTEGER NOT NULL,
  graph_id INTEGER NOT NULL,
  graph_node_id INTEGER NOT NULL,
  pageable INTEGER NOT NULL,               -- 1: one side is host memory that is not pinned
  source_address INTEGER NOT NULL,         -- from the copy's call; 0 unknown
  destination_address INTEGER NOT NULL
) STRICT;

CREATE TABLE allocation_entry (
  allocation_id INTEGER PRIMARY KEY,
  process_id INTEGER NOT NULL,
  device_id INTEGER NOT NULL,
  address INTEGER NOT NULL,                -- bit pattern of the unsigned address
  bytes INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER                           -- NULL: never freed
) STRICT;

-- Time that the tracer itself took from the program, as CUPTI reports it.
CREATE TABLE overhead_entry (
  overhead_id INTEGER PRIMARY KEY,
  process_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL
) STRICT;

-- The parts of the run that were recorded: one row, the whole of it, where nothing else was asked for.
CREATE TABLE window_entry (
  window_id INTEGER PRIMARY KEY,
  process_id INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER,                          -- NULL: the process was killed while the window was open
  start_bound INTEGER NOT NULL,            -- trace::WindowBound
  end_bound INTEGER NOT NULL,
  start_frames INTEGER NOT NULL,           -- finished by then, where frames were counted; of a range: begun
  end_frames INTEGER NOT NULL
) STRICT;

-- Device code, once by content.
CREATE TABLE module_image_entry (
  image_id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,               -- XXH3-128 of the bytes, 32 hexadecimal digits
  kind INTEGER NOT NULL,                   -- trace::ImageKind
  bytes INTEGER NOT NULL,                  -- uncompressed
  compression TEXT NOT NULL,               -- 'none' or 'zlib', of `data`
  data BLOB NOT NULL
) STRICT;

-- Where an image came from: one row for each process and source.
CREATE TABLE module_load_entry (
  image_id INTEGER NOT NULL REFERENCES module_image_entry,
  process_id INTEGER NOT NULL,
  source INTEGER NOT NULL,                 -- trace::ImageSource
  module_id INTEGER NOT NULL,              -- CUPTI's; 0 where the source is not CUPTI
  path TEXT NOT NULL                       -- '' where it was not loaded from a file
) STRICT;

-- Kernels that an image holds, whether they were launched or not.
CREATE TABLE module_kernel_entry (
  image_id INTEGER NOT NULL REFERENCES module_image_entry,
  mangled_name_id INTEGER NOT NULL REFERENCES string_entry,
  PRIMARY KEY (image_id, mangled_name_id)
) STRICT, WITHOUT ROWID;

-- Launches of graphs whose nodes were not recorded (profile --graph-level).
CREATE TABLE graph_launch_entry (
  graph_launch_id INTEGER PRIMARY KEY,
  process_id INTEGER NOT NULL,
  device_id INTEGER NOT NULL,
  context_id INTEGER NOT NULL,
  stream_id INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,               -- 0: CUPTI could not take the time
  end_ns INTEGER NOT NULL,
  correlation_id INTEGER NOT NULL,
  graph_id INTEGER NOT NULL,
  call_id INTEGER REFERENCES host_call_entry, -- NULL: its launch call was not recorded
  nvtx_range_id INTEGER                    -- NULL: none was open at the launch call
) STRICT;

-- Bytes that the device moved for a kernel, measured in a second run (profile --traffic). NULL: no counter.
CREATE TABLE kernel_traffic_entry (
  kernel_id INTEGER PRIMARY KEY REFERENCES kernel_entry,
  dram_read_bytes INTEGER,
  dram_written_bytes INTEGER,
  l2_read_bytes INTEGER,                   -- requests that reached L2, hit or miss
  l2_written_bytes INTEGER,
  passes INTEGER NOT NULL                  -- runs of the kernel that the figures took
) STRICT;

CREATE TABLE nvtx_domain_entry (
  domain_id INTEGER PRIMARY KEY,
  process_id INTEGER NOT NULL,
  name_id INTEGER REFERENCES string_entry, -- NULL: not recorded
  start_ns INTEGER NOT NULL,
  end_ns INTEGER                           -- NULL: never destroyed
) STRICT;

CREATE TABLE nvtx_category_entry (
  process_id INTEGER NOT NULL,
  domain_id INTEGER NOT NULL,              -- 0: NVTX's default domain
  category INTEGER NOT NULL,
  name_id INTEGER REFERENCES string_entry,
  PRIMARY KEY (process_id, domain_id, category)
) STRICT, WITHOUT ROWID;

-- Ranges and marks that the program made with NVTX.
CREATE TABLE nvtx_range_entry (
  range_id INTEGER PRIMARY KEY,            -- in the order of their starts on each thread
  process_id INTEGER NOT NULL,
  thread_id INTEGER NOT NULL,              -- that opened it
  kind INTEGER NOT NULL,                   -- trace::NvtxKind
  domain_id INTEGER NOT NULL,              -- 0: NVTX's default domain
  name_id INTEGER REFERENCES string_entry, -- NULL: without a name
  start_ns INTEGER NOT NULL,
  end_ns INTEGER,                          -- NULL: left open; of a mark: its start
  parent_range_id INTEGER,                 -- push/pop: the range around it on its thread and in its domain
  level INTEGER NOT NULL,                  -- push/pop: ranges around it on its thread and in its domain
  category INTEGER NOT NULL,               -- 0: none
  color INTEGER,                           -- ARGB; NULL: none
  payload_type INTEGER NOT NULL,           -- nvtxPayloadType_t; 0: none
  payload ANY                              -- an unsigned 64-bit integer as its bit pattern
) STRICT;

-- Ranges whose names say which operator of a framework they are.
CREATE TABLE nvtx_operator_entry (
  range_id INTEGER PRIMARY KEY REFERENCES nvtx_range_entry,
  framework TEXT NOT NULL,                 -- 'PyTorch' or 'TensorRT'
  operator_id INTEGER NOT NULL REFERENCES string_entry,
  sequence INTEGER,                        -- of autograd; shared by an operator and its gradient
  op_id INTEGER,
  shapes TEXT,                             -- of the inputs, JSON: [[2,3],[]]
  input_op_ids TEXT                        -- JSON: [[op_id, output], ...]
) STRICT;

-- Buffers of one run of a chain (profile --capture): the contents once, then where they were seen.
CREATE TABLE captured_contents_entry (
  contents_id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,               -- XXH3-128 of the bytes, 32 hexadecimal digits
  bytes INTEGER NOT NULL,                  -- uncompressed
  compression TEXT NOT NULL,               -- 'none' or 'zlib', of `data`
  data BLOB NOT NULL
) STRICT;

CREATE TABLE captured_buffer_entry (
  process_id INTEGER NOT NULL,
  after INTEGER NOT NULL,                  -- 0: as the first launch found it; 1: as the last one left it
  address INTEGER NOT NULL,                -- of the whole allocation
  bytes INTEGER NOT NULL,
  contents_id INTEGER REFERENCES captured_contents_entry -- NULL: over the limit, or not readable
) STRICT;

CREATE TABLE captured_launch_entry (
  process_id INTEGER NOT NULL,
  step INTEGER NOT NULL,                   -- of the chain, from 0
  correlation_id INTEGER NOT NULL,
  arguments_id INTEGER NOT NULL            -- 0: not recorded
) STRICT;
