import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { operatorKinds, toCustomResourceDefinition } from "@causeway/api";
import { createMetrics, InputError, systemClock } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  electLeader,
  inClusterConfig,
  loadKubeconfig,
} from "@causeway/kubernetes";
import { createOpenStackOperator } from "@causeway/openstack-operator";
import { stringify } from "yaml";
import { commandLog } from "../../../terminal/text-log.ts";
import { serveMetrics } from "../serving/plain-metrics.ts";
import { serveAdmission } from "./admission.ts";
import type { OpenStackOperatorFlags } from "./command.ts";

/** Runs the operator until the signal aborts. @throws FLAG_INVALID, KUBECONFIG_… */
export async function openStackOperator(flags: OpenStackOperatorFlags, signal: AbortSignal): Promise<void> {
  if (flags.printCrds) {
    process.stdout.write(operatorKinds.map((kind) => `---\n${stringify(toCustomResourceDefinition(kind))}`).join(""));
    return;
  }
  if (flags.leaderElect !== "true" && flags.leaderElect !== "false")
    throw new InputError("FLAG_INVALID", `--leader-elect must be true or false.`);
  const log = commandLog(flags.logLevel);
  const { kubeconfig: path, context } = flags;
  const cluster =
    path === undefined ? inClusterConfig() : loadKubeconfig({ path, ...(context === undefined ? {} : { context }) });
  const metrics = createMetrics();
  const client = createClient(cluster, { userAgent: "causeway-openstack-operator", clock: systemClock, metrics });
  const using = { client, clock: systemClock, log };
  const work = async (term: AbortSignal): Promise<void> => {
    const informers = createInformers(client, { clock: systemClock, log });
    const events = createEventRecorder(client, {
      component: "openstack-operator",
      clock: systemClock,
      log,
      warnings: "warn",
      signal: term,
    });
    const operator = createOpenStackOperator({ informers, events, metrics, clock: systemClock, log });
    await Promise.all([informers.run(term), operator.run(term)]);
  };
  const served: ({ close(): Promise<void> } | undefined)[] = [];
  try {
    served.push(await serveMetrics(flags.metricsAddress, { metrics, log }));
    served.push(await serveAdmission(client, flags, { log, signal }));
    if (flags.leaderElect === "false") return await work(signal);
    const identity = `${hostname()}_${randomUUID()}`;
    const lease = { namespace: flags.leaderElectNamespace, name: "causeway-openstack-operator" };
    await electLeader({ ...using, ...lease, identity, onLeading: work }, signal);
  } finally {
    await Promise.allSettled([...served.map((each) => each?.close()), client.close()]);
  }
}
