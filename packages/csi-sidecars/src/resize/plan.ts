import type { Plan } from "@causeway/kubernetes";
import { bytesOfQuantity } from "../quantity.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

const STORAGE = "storage";

/**
 * Grows the volume to what the claim requests. Its file system grows on the node, which then sets the claim's capacity.
 */
export function plan({ claim, found }: Observed): Plan<Step, undefined> {
  const none: Plan<Step, undefined> = { steps: [], status: undefined };
  const { metadata, spec, status } = claim;
  if (metadata.deletionTimestamp !== undefined || status?.phase !== "Bound") return none;
  const requested = bytesOfQuantity(spec.resources?.requests?.[STORAGE]) ?? 0n;
  const current = bytesOfQuantity(status.capacity?.[STORAGE]) ?? 0n;
  if (current === 0n || requested <= current) return none;
  const volume = bytesOfQuantity(found.volume.spec.capacity?.[STORAGE]) ?? 0n;
  const isTrue = (type: string) =>
    (status.conditions ?? []).some((each) => each.type === type && each.status === "True");
  // The node grows the file system, and then sets the claim's capacity.
  if (volume >= requested && isTrue("FileSystemResizePending")) return none;
  const begin: Step[] = isTrue("Resizing") ? [] : [{ type: "begin", bytes: requested }];
  const message = `External resizer is resizing volume ${found.volume.metadata.name}`;
  return {
    steps: [...begin, { type: "expand", bytes: requested }],
    status: undefined,
    events: [{ type: "Normal", reason: "Resizing", message }],
  };
}
