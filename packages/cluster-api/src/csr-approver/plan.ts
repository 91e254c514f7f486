import type { Plan } from "@causeway/kubernetes";
import { judge } from "./judge.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** Checks a request again that may come right, */
const waitTime = 5_000;
/** but not for ever: after this long an event reports it, and only a change of its machine reconciles it again. */
const reportAfter = 60_000;

/** Approves what the rules of `judge` permit, waits for what may come right, and reports what is left to a person. */
export function plan({ request, facts }: Observed, now: number): Plan<Step, undefined> {
  const verdict = judge(facts);
  const { kind } = verdict;
  if (kind === "approve") {
    const { reason, message } = verdict;
    return { steps: [{ type: "approve", reason, message }], status: undefined };
  }
  if (kind === "ignore") return { steps: [], status: undefined };
  const age = now - Date.parse(request.metadata.creationTimestamp ?? "");
  if (kind === "wait" && age < reportAfter) {
    return { steps: [], status: undefined, wait: { for: verdict.message, until: now + waitTime } };
  }
  const user = request.spec.username ?? "an unknown user";
  const message = `Certificate request ${request.metadata.name} of ${user} is not approved automatically: ${verdict.message}; approve or deny it with kubectl certificate`;
  return {
    steps: [],
    status: undefined,
    wait: { for: "a decision by an administrator" },
    events: [{ type: "Warning", reason: "CertificateRequestLeft", message }],
  };
}
