import {
  CertificateSigningRequest,
  keyOf,
  runPipeline,
  watchInformer,
  type ControllerOptions,
  type Pipeline,
  type Source,
} from "@causeway/kubernetes";
import { clusterKeyOf, onConnectionChange, type Context } from "../objects/context.ts";
import { groupsByCluster } from "../objects/groups.ts";
import { clusterOf, gather, isOpen, requestKey, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/** Approves the requests of kubelets of our machines, in every workload cluster; other requests are not touched. */
export function csrApprover(context: Context): ControllerOptions {
  const { clock, log, metrics } = context;
  const name = "csr-approver";
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: (key) => gather(context, key),
    plan,
    perform: (step, observed, signal) => perform(context, { step, observed }, signal),
    // The recorder merges repeats, so the same request is reported once.
    publish: ({ cluster }, _status, events) => {
      for (const event of events) if (cluster) context.events.event(cluster, event);
      return Promise.resolve();
    },
    // The log has the error, and the queue tries again.
    failed: () => ({ status: undefined, events: [] }),
  };
  const reconcile = runPipeline(pipeline, { clock, log, name, metrics });
  return { name, reconcile, sources: sources(context), groups: groupsByCluster(clusterOf), clock, log };
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
