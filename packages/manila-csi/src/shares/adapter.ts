import type { SharedFileSystem } from "@causeway/openstack";
import type { ClassParameters, VolumeContext } from "../parameters.ts";
import type { ShareProtocol } from "../protocol.ts";
import type { RuntimeConfig } from "../runtime-config.ts";
import { cephFs } from "./cephfs.ts";
import { nfs } from "./nfs.ts";

/** What the mount of a share is derived from. */
export interface MountSource {
  readonly share: SharedFileSystem.Share;
  readonly locations: readonly SharedFileSystem.ExportLocation[];
  readonly options: VolumeContext;
  readonly runtime: RuntimeConfig;
}

/** What differs between the protocols that shares are exported with. */
export interface ShareAdapter {
  readonly accessType: "ip" | "cephx";
  /** Who may access a share of this name. */
  clientsOf(parameters: ClassParameters, shareName: string): readonly string[];
  /** Whether clients can use the rule: Manila creates the key of a cephx user later. */
  isComplete(rule: SharedFileSystem.AccessRule): boolean;
  /** Whether the node needs the rule: its user and key. */
  readonly needsRule: boolean;
  /** What the proxied driver reads to mount the share. Throws CSI_INVALID_ARGUMENT, CSI_FAILED_PRECONDITION. */
  context(source: MountSource): Record<string, string>;
  stageSecret(rule: SharedFileSystem.AccessRule | undefined): Record<string, string>;
}

/** The adapter of a protocol. */
export const adapterOf = (protocol: ShareProtocol): ShareAdapter => (protocol === "NFS" ? nfs : cephFs);
