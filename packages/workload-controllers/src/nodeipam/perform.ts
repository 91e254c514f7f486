import { isNotFound, Node } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import type { Step } from "./steps.ts";

/** A repeat after a lost answer sends what the Node then has: the API server accepts the same value. */
export async function perform(
  { informers }: Context,
  { name, uid, podCIDRs }: Step,
  signal: AbortSignal,
): Promise<void> {
  const body = { metadata: { uid }, spec: { podCIDR: podCIDRs[0], podCIDRs: [...podCIDRs] } };
  try {
    await informers.client.patch(Node, { namespace: "", name }, { type: "strategic", body }, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
