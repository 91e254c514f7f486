import type { SharedFileSystem } from "@causeway/openstack";
import type { ShareAdapter } from "./adapter.ts";
import { chooseLocation } from "./export-location.ts";
import { clientsIn } from "./nfs.ts";

/** Manila's driver for CephFS records the file system's name in this metadata of a share, as options of a mount. */
const MOUNT_OPTIONS = "__mount_options";

/** Shares for the CephFS driver (ceph-csi): a rule is a Ceph user, whose key is the secret of a mount. */
export const cephFs: ShareAdapter = {
  accessType: "cephx",
  needsRule: true,
  /** Upstream's nodes use the first of several. */
  clientsOf: (parameters, shareName) => clientsIn(parameters["cephfs-clientID"] ?? shareName).slice(0, 1),
  isComplete: (rule) => (rule.access_key ?? "") !== "",
  context({ share, locations, options }) {
    const { address, path } = chooseLocation(locations);
    const kernel = options["cephfs-kernelMountOptions"];
    const fuse = options["cephfs-fuseMountOptions"];
    const fsName = fileSystemOf(share);
    return {
      monitors: address,
      rootPath: path,
      mounter: options["cephfs-mounter"] ?? "fuse",
      provisionVolume: "false",
      ...(kernel !== undefined && { kernelMountOptions: kernel }),
      ...(fuse !== undefined && { fuseMountOptions: fuse }),
      ...(fsName !== undefined && { fsName }),
    };
  },
  stageSecret: (rule) => ({ userID: rule?.access_to ?? "", userKey: rule?.access_key ?? "" }),
};

function fileSystemOf({ metadata }: SharedFileSystem.Share): string | undefined {
  const options = (metadata[MOUNT_OPTIONS] ?? "").split(",").map((each) => each.trim());
  return options.find((each) => each.startsWith("fs="))?.slice("fs=".length) || undefined;
}
