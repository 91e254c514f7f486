import { CausewayError, type Clock } from "@causeway/foundation";
import { until, type Volume } from "@causeway/openstack";
import type { StorageCloud } from "../clouds.ts";
import { LONGEST_CALL } from "./call.ts";

/** A call that changes one volume. */
export interface ChangeCall {
  readonly storage: StorageCloud;
  readonly id: string;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

const MOST_STEPS = 5;

/** What ControllerExpandVolume does next. */
export type ExpandStep =
  | { readonly type: "done" }
  | { readonly type: "extend" }
  | { readonly type: "wait" }
  | { readonly type: "fail"; readonly code: "CSI_INTERNAL" | "CSI_FAILED_PRECONDITION"; readonly message: string };

/** `online`: Cinder of this cloud extends attached volumes (3.42). */
export function planExpand(volume: Volume, gib: number, online: boolean): ExpandStep {
  if (volume.status === "extending") return { type: "wait" };
  if (volume.status === "error_extending") {
    return {
      type: "fail",
      code: "CSI_INTERNAL",
      message: `Cinder could not extend volume ${volume.id}: its status is error_extending.`,
    };
  }
  if (volume.size >= gib) return { type: "done" };
  if (volume.status === "available" || (volume.status === "in-use" && online)) return { type: "extend" };
  const why =
    volume.status === "in-use"
      ? "it is attached, and ignore-volume-microversion excludes online extension"
      : `its status is ${volume.status}`;
  return { type: "fail", code: "CSI_FAILED_PRECONDITION", message: `Volume ${volume.id} cannot be extended: ${why}.` };
}

/** The volume after Cinder has extended it to at least `gib`. */
export async function expandVolume(call: ChangeCall, gib: number): Promise<Volume> {
  const { storage, id, signal } = call;
  let extended = false;
  for (let count = 0; count < MOST_STEPS; count += 1) {
    const volume = await found(call);
    const step = planExpand(volume, gib, storage.options.ignoreVolumeMicroversion !== true);
    if (step.type === "done") return volume;
    if (step.type === "fail") throw new CausewayError(step.code, step.message);
    if (step.type === "extend") {
      if (extended)
        throw new CausewayError("CSI_INTERNAL", `Volume ${id} still has ${volume.size} GiB after Cinder extended it.`);
      await storage.cloud.blockStorage.volumeActions.extend(id, gib, { signal });
      extended = true;
      storage.volumes.observe({ ...volume, status: "extending" });
    }
    await settled(call, "extending");
  }
  throw new CausewayError("CSI_ABORTED", `The size of volume ${id} keeps changing.`);
}

const POLICIES = ["never", "on-demand"] as const;

/** What the parameters of a VolumeAttributesClass ask for: a type of Cinder, and the migration policy of a retype. */
export interface Attributes {
  readonly type: string | undefined;
  readonly policy: (typeof POLICIES)[number];
}

/** What a VolumeAttributesClass sets. Throws CSI_INVALID_ARGUMENT. */
export function attributesOf(parameters: Readonly<Record<string, string>>): Attributes {
  const unknown = Object.keys(parameters).filter((key) => key !== "type" && key !== "migration-policy");
  const policy = POLICIES.find((each) => each === (parameters["migration-policy"] ?? "never"));
  if (unknown.length === 0 && policy !== undefined) return { type: parameters["type"], policy };
  const why =
    policy === undefined
      ? "migration-policy is neither never nor on-demand"
      : `${unknown.join(", ")} cannot be changed`;
  throw new CausewayError("CSI_INVALID_ARGUMENT", `The VolumeAttributesClass is not valid: ${why}.`, {
    hint: "Its parameters for Cinder are type and migration-policy.",
  });
}

/** Changes the volume's type, and with it its QoS policy. */
export async function modifyVolume(call: ChangeCall, { type, policy }: Attributes): Promise<void> {
  const { storage, id, signal } = call;
  const volume = await found(call);
  if (type === undefined || volume.volume_type === type) return;
  if (volume.status !== "retyping") await storage.cloud.blockStorage.volumeActions.retype(id, type, policy, { signal });
  storage.volumes.observe({ ...volume, status: "retyping" });
  const after = await settled(call, "retyping");
  if (after.volume_type === type) return;
  throw new CausewayError(
    "CSI_INTERNAL",
    `Cinder did not change volume ${id} to type ${type}; it has type ${after.volume_type}.`,
    {
      hint: "Set migration-policy to on-demand if the type is on another backend.",
    },
  );
}

/** From Cinder. Throws CSI_NOT_FOUND. */
export async function found({ storage, id, signal }: Omit<ChangeCall, "clock">): Promise<Volume> {
  const volume = await storage.cloud.blockStorage.volumes.find(id, { signal });
  if (!volume) throw new CausewayError("CSI_NOT_FOUND", `Volume ${id} does not exist.`);
  storage.volumes.observe(volume);
  return volume;
}

async function settled({ storage, id, signal, clock }: ChangeCall, status: string): Promise<Volume> {
  const isDone = (volume: Volume | undefined) => volume?.status !== status;
  const after = await until(storage.volumes, id, isDone, { signal, clock, timeout: LONGEST_CALL, hurry: false });
  if (after) return after;
  throw new CausewayError("CSI_NOT_FOUND", `Volume ${id} was deleted.`);
}
