import { CertificateSigningRequest, timestamp } from "@causeway/kubernetes";
import type { Context } from "../objects/context.ts";
import { fieldManager } from "../objects/steps.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** Approves the request. The resource version of what was read keeps another's decision from being overwritten. */
export async function perform(
  { clock, log }: Pick<Context, "clock" | "log">,
  { step, observed: { remote, request } }: { readonly step: Step; readonly observed: Observed },
  signal: AbortSignal,
): Promise<void> {
  const at = timestamp(clock.now());
  const { reason, message } = step;
  const condition = {
    type: "Approved",
    status: "True",
    reason,
    message,
    lastUpdateTime: at,
    lastTransitionTime: at,
  } as const;
  const approved = { ...request, status: { ...request.status, conditions: [condition] } };
  await remote.client.update(CertificateSigningRequest, approved, { subresource: "approval", fieldManager, signal });
  log.info("certificate request approved", { request: request.metadata.name, reason });
}
