"""Android emulators: processes, ports, snapshots, gRPC screenshots, and a pool of them."""
