import { CausewayError } from "@causeway/foundation";

type Parameters = Readonly<Record<string, string>>;

/** A parameter's rules: its default, and what its value must match. */
interface Rule {
  readonly otherwise?: string;
  readonly matches?: RegExp;
}

const MOUNTER: Rule = { otherwise: "fuse", matches: /^(?:kernel|fuse)$/ };

/** Parameters of a StorageClass. csi-provisioner adds others, which are not read here. */
const CLASS = {
  type: { otherwise: "default" },
  shareNetworkID: {},
  availability: {},
  autoTopology: { otherwise: "false", matches: /^(?:true|false)$/i },
  appendShareMetadata: {},
  affinity: {},
  antiAffinity: {},
  groupID: {},
  "cephfs-mounter": MOUNTER,
  "cephfs-clientID": {},
  "cephfs-kernelMountOptions": {},
  "cephfs-fuseMountOptions": {},
  "nfs-shareClient": { otherwise: "0.0.0.0/0" },
} as const satisfies Readonly<Record<string, Rule>>;

/** What the context of a volume has, for the node service. */
const CONTEXT = {
  shareID: {},
  shareName: {},
  /** Of volumes of older drivers: one ID. */
  shareAccessID: {},
  shareAccessIDs: {},
  "cephfs-mounter": MOUNTER,
  "cephfs-kernelMountOptions": {},
  "cephfs-fuseMountOptions": {},
} as const satisfies Readonly<Record<string, Rule>>;

/** The parameters of a StorageClass that were read: defaults are filled in. */
export type ClassParameters = Partial<Record<keyof typeof CLASS, string>>;
/** The context of a volume that was read: defaults are filled in. */
export type VolumeContext = Partial<Record<keyof typeof CONTEXT, string>>;

/** Throws CSI_INVALID_ARGUMENT. */
export const classParameters = (given: Parameters): ClassParameters => checked(CLASS, given);

/** Throws CSI_INVALID_ARGUMENT: a share has an ID or a name. */
export function volumeContext(given: Parameters): VolumeContext {
  const context: VolumeContext = checked(CONTEXT, given);
  if ((context.shareID === undefined) !== (context.shareName === undefined)) return context;
  const why = context.shareID === undefined ? "neither shareID nor shareName" : "both shareID and shareName";
  throw new CausewayError("CSI_INVALID_ARGUMENT", `The volume context has ${why}.`);
}

/** What of a StorageClass the node service reads later. */
export function contextOfClass(given: Parameters): Record<string, string> {
  const all = checked(CONTEXT, given);
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function checked<K extends string>(rules: Readonly<Record<K, Rule>>, given: Parameters): Partial<Record<K, string>> {
  const values: Partial<Record<K, string>> = {};
  for (const key of Object.keys(rules) as K[]) {
    const { otherwise, matches } = rules[key];
    const value = given[key] ?? otherwise;
    if (value === undefined) continue;
    if (value === "") throw new CausewayError("CSI_INVALID_ARGUMENT", `Parameter ${key} is empty.`);
    if (matches && !matches.test(value)) {
      throw new CausewayError("CSI_INVALID_ARGUMENT", `Parameter ${key} has the value "${value.slice(0, 100)}".`, {
        hint: `It must match ${matches.source}.`,
      });
    }
    values[key] = value;
  }
  return values;
}
