import type { Condition, PlannedEvent } from "@causeway/kubernetes";
import { failureOf } from "./failure.ts";
import { publishedMessage, refusalOf } from "./refusals.ts";

interface Readable {
  readonly metadata: { readonly generation?: number };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly initialization?: { readonly provisioned?: boolean };
  };
}

/**
 * What to publish when what belongs to an object could not be read: an event, and while it is not provisioned yet also
 * the condition `type`, since that is why it waits. What is provisioned keeps its conditions: nothing is known of it.
 */
export function unreadReport<Object extends Readable>(
  { metadata, status }: Object,
  { type, error, now }: { readonly type: string; readonly error: unknown; readonly now: number },
): { conditions: Condition[] | undefined; event: PlannedEvent | undefined } {
  const { reason, message } = refusalOf(error, "OpenStackError", {
    known: publishedMessage({ status: status ?? {} }, type),
  });
  const moment = { generation: metadata.generation, now };
  const before = { conditions: [...(status?.conditions ?? [])] };
  const failure = failureOf(before, { type, refusal: { reason, message } }, moment);
  const [event] = failure.events;
  const isProvisioned = status?.initialization?.provisioned === true;
  return { conditions: isProvisioned ? undefined : failure.status.conditions, event };
}
