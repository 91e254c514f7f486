import type { Volume } from "@causeway/openstack";

/** What a ControllerPublishVolume or ControllerUnpublishVolume call does next. */
export type AttachmentStep =
  | { readonly type: "done"; readonly device: string }
  | { readonly type: "attach" }
  | { readonly type: "detach"; readonly servers: readonly string[] }
  | { readonly type: "wait"; readonly for: string }
  /** The copy of the volume may be out of date: list before a negative conclusion. */
  | { readonly type: "refresh" }
  /** Cinder's attachments and Nova's no longer agree: delete those of Cinder that Nova does not have. */
  | { readonly type: "recover" }
  | {
      readonly type: "fail";
      readonly code: "CSI_NOT_FOUND" | "CSI_FAILED_PRECONDITION" | "CSI_INTERNAL";
      readonly message: string;
    };

/** What `planPublish` and `planUnpublish` read. */
export interface AttachmentView {
  /** Undefined: the project has no such volume. */
  readonly volume: Volume | undefined;
  /** The server's ID; "" (unpublish only): every server. */
  readonly server: string;
  /** The volume was listed after the call began. */
  readonly fresh: boolean;
  /** Milliseconds that this call has waited since the last change or recovery. */
  readonly waited: number;
  /** A detach of this call was accepted. */
  readonly detached?: boolean;
  /** Nova has no attachment of the volume to the server, and Cinder has none any more. */
  readonly released?: boolean;
  /** Several servers may have the volume at once: block access, or read only. */
  readonly sharable?: boolean;
}

/** How long (ms) Nova may take between two changes of an attachment before it is compared with Cinder's. */
export const STUCK = 60_000;

const CHANGING = new Set(["attaching", "detaching", "reserved"]);
/** An attached volume has these while it is attached. */
const ATTACHED = new Set(["in-use", "extending", "retyping", "backing-up", "uploading", "error_extending"]);
const SOON_AVAILABLE = new Set([
  "creating",
  "downloading",
  "restoring-backup",
  "backing-up",
  "extending",
  "retyping",
  "uploading",
]);

/** Towards "attached to this server". */
export function planPublish(view: AttachmentView): AttachmentStep {
  const { volume, server, fresh } = view;
  if (volume === undefined) return fresh ? fail("CSI_NOT_FOUND", "The volume does not exist.") : { type: "refresh" };
  const { status } = volume;
  const own = volume.attachments.find(({ server_id }) => server_id === server);
  if (own && ATTACHED.has(status)) return fresh ? { type: "done", device: own.device ?? "" } : { type: "refresh" };
  if (CHANGING.has(status)) return changing(view, status);
  if (status === "available") return { type: "attach" };
  if (!fresh) return { type: "refresh" };
  if (status === "in-use") return besideOthers(view, volume);
  if (SOON_AVAILABLE.has(status)) return { type: "wait", for: `volume ${volume.id} to leave status ${status}` };
  return fail("CSI_INTERNAL", `Volume ${volume.id} has status ${status} and cannot be attached.`);
}

/** The volume is attached, and not to this server. */
function besideOthers(view: AttachmentView, volume: Volume): AttachmentStep {
  const others = volume.attachments.map(({ server_id }) => server_id).join(", ");
  if (volume.attachments.length === 0) return changing(view, volume.status);
  if (volume.multiattach === true && view.sharable === true) return { type: "attach" };
  const why =
    volume.multiattach === true ? "and file systems cannot be mounted on two nodes" : "and is not multiattach";
  return fail("CSI_FAILED_PRECONDITION", `Volume ${volume.id} is attached to server ${others}, ${why}.`);
}

/** Towards "not attached to this server". */
export function planUnpublish(view: AttachmentView): AttachmentStep {
  const { volume, server, fresh, detached = false, released = false } = view;
  if (volume === undefined || released) return fresh ? { type: "done", device: "" } : { type: "refresh" };
  const own = volume.attachments.filter(({ server_id }) => server === "" || server_id === server);
  const isChanging = CHANGING.has(volume.status);
  // A volume without attachments that is changing may be attached to this server by a call whose answer was lost.
  if (own.length === 0 && (!isChanging || volume.attachments.length > 0)) {
    return fresh ? { type: "done", device: "" } : { type: "refresh" };
  }
  if (isChanging) return changing(view, volume.status);
  if (!detached) return { type: "detach", servers: own.map(({ server_id }) => server_id) };
  // Nova accepted the detach, or has no such server or attachment any more. A list shows which.
  return fresh ? { type: "recover" } : { type: "refresh" };
}

function changing({ fresh, waited }: AttachmentView, status: string): AttachmentStep {
  if (waited < STUCK) return { type: "wait", for: `the end of status ${status}` };
  return fresh ? { type: "recover" } : { type: "refresh" };
}

function fail(code: "CSI_NOT_FOUND" | "CSI_FAILED_PRECONDITION" | "CSI_INTERNAL", message: string): AttachmentStep {
  return { type: "fail", code, message };
}
