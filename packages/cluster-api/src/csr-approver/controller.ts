import {
  CertificateSigningRequest,
  keyOf,
  timestamp,
  watchInformer,
  type ControllerOptions,
  type ObjectKey,
  type ReconcileResult,
  type Source,
} from "@causeway/kubernetes";
import { clusterKeyOf, onConnectionChange, type Context } from "../objects/context.ts";
import { fieldManager } from "../objects/steps.ts";
import { judge, type Verdict } from "./decide.ts";
import { clusterOf, gather, isOpen, requestKey, type Gathered } from "./gather.ts";

/** Looks again at a request that may come right, */
const waitTime = 5_000;
/** but not for ever: after this long an event reports it, and only a change of its machine reconciles it again. */
const reportAfter = 60_000;

/** Approves the requests of kubelets of our machines, in every workload cluster; other requests are not touched. */
export function csrApprover(context: Context): ControllerOptions {
  const { clock, log } = context;
  const reconcile = async (key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult | void> => {
    const gathered = await gather(context, key);
    if (!gathered) return undefined;
    const verdict = judge(gathered.facts);
    if (verdict.kind === "approve") return approve(context, { ...gathered, verdict }, signal);
    if (verdict.kind === "ignore") return undefined;
    const age = clock.now() - Date.parse(gathered.request.metadata.creationTimestamp ?? "");
    if (verdict.kind === "wait" && age < reportAfter) return { after: waitTime };
    reportLeft(context, clusterOf(key), { request: gathered.request, why: verdict.message });
    return undefined;
  };
  return { name: "csr-approver", reconcile, sources: sources(context), clock, log };
}

async function approve(
  context: Context,
  decided: Gathered & { readonly verdict: Verdict & { kind: "approve" } },
  signal: AbortSignal,
): Promise<void> {
  const { remote, request, verdict } = decided;
  const at = timestamp(context.clock.now());
  const { reason, message } = verdict;
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
  context.log.info("certificate request approved", { request: request.metadata.name, reason });
}

/** The recorder merges repeats, so the same request is reported once. */
function reportLeft(
  { clusters, events }: Context,
  cluster: ObjectKey,
  left: { readonly request: CertificateSigningRequest; readonly why: string },
): void {
  const { request, why } = left;
  const object = clusters.get(cluster);
  if (!object) return;
  const { name } = request.metadata;
  const message = `Certificate request ${name} of ${request.spec.username ?? "an unknown user"} is not approved automatically: ${why}; approve or deny it with kubectl certificate`;
  events.event(object, { type: "Warning", reason: "CertificateRequestLeft", message });
}

function sources(context: Context): Source[] {
  const { machines, remoteClusters } = context;
  return [
    (enqueue) =>
      onConnectionChange(remoteClusters, (remote) => {
        if (remote.signal.aborted) return;
        const requests = remote.informers.for(CertificateSigningRequest);
        const stop = requests.onChange(({ type, object }) => {
          if (type !== "deleted" && isOpen(object)) enqueue(requestKey(remote.key, object.metadata.name));
        });
        remote.signal.addEventListener("abort", stop, { once: true });
      }),
    // Addresses of a machine may be what a request waits for.
    watchInformer(machines, ({ object }) => {
      const cluster = clusterKeyOf(object);
      const requests = remoteClusters.get(cluster)?.informers.for(CertificateSigningRequest).list() ?? [];
      return requests.filter(isOpen).map((request) => requestKey(cluster, keyOf(request).name));
    }),
  ];
}
