/** What the driver announces at most: Kubernetes and Nova accept no more for a server. */
const MOST = 256;
/**
 * A server with virtio-blk has a PCI slot for each disk; i440fx has 26 free ones, and two are the root disk's and the
 * config drive's.
 */
const VIRTIO = 24;

/**
 * How many volumes a node may have. `configured` is node-volume-attach-limit; without it the bus of the root disk
 * decides, because "no limit", as upstream's driver announces, lets the scheduler choose nodes on which the volumes
 * cannot be attached.
 */
export function attachLimit(configured: number | undefined, disks: readonly string[]): number {
  if (configured !== undefined) return configured > 0 && configured <= MOST ? configured : MOST;
  return disks.includes("vda") ? VIRTIO : MOST;
}
