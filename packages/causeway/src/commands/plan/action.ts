import { createLog, silentLog, systemClock, readTextFile, InputError } from "@causeway/foundation";
import {
  defaultCloudConfig,
  explainService,
  parseControllerConfig,
  type ExplainedRound,
  type PlannedCall,
  type ServiceExplanation,
} from "@causeway/cloud-controller-manager";
import { createClient, createInformers, loadKubeconfig } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, parseCloudConf, watchCloud } from "@causeway/openstack";
import { stringify } from "yaml";
import type { OutputFormat } from "../../options/output.ts";
import type { PlanServiceOptions } from "./command.ts";

/** Tells what a reconcile of a Service would do now, and which calls that takes; does nothing of it. Throws SERVICE_NOT_FOUND. */
export async function planService(name: string, options: PlanServiceOptions, signal: AbortSignal): Promise<void> {
  const log = options.logLevel === "silent" ? silentLog : createLog({ level: options.logLevel });
  const key = keyFrom(name);
  const conf = options.cloudConfig === undefined ? undefined : readTextFile(options.cloudConfig);
  const config = conf === undefined ? defaultCloudConfig() : parseControllerConfig(conf).config;
  const { kubeconfig, clusterName } = options;
  const client = createClient(loadKubeconfig(kubeconfig === undefined ? {} : { path: kubeconfig }));
  const cloud = connectCloud(conf === undefined ? loadCloudsYaml({ cloud: options.cloud }) : parseCloudConf(conf), {
    clock: systemClock,
    log,
  });
  const watch = watchCloud(cloud, { clock: systemClock, log });
  const informers = createInformers(client, { log });
  const stopping = new AbortController();
  const life = AbortSignal.any([signal, stopping.signal]);
  const running = informers.run(life);
  try {
    const using = { informers, cloud, watch, config, clusterName, clock: systemClock };
    const explained = await explainService(using, key, signal);
    if (!explained)
      throw new InputError(
        "SERVICE_NOT_FOUND",
        `There is no Service ${name} of type LoadBalancer for this controller.`,
        {
          hint: "See `kubectl get services -A`; one with another loadBalancerClass is another controller's.",
        },
      );
    process.stdout.write(render(explained, options.output));
  } finally {
    stopping.abort();
    await running;
    await watch.close();
    await Promise.all([cloud.close(), client.close()]);
  }
}

function keyFrom(text: string): { namespace: string; name: string } {
  const [namespace, name, ...more] = text.includes("/") ? text.split("/") : ["default", text];
  if (!namespace || !name || more.length > 0)
    throw new InputError("FLAG_INVALID", `${text} is not NAMESPACE/NAME.`, { hint: "Give it as NAMESPACE/NAME." });
  return { namespace, name };
}

function render(explained: ServiceExplanation, output: OutputFormat): string {
  const { securityGroup, rounds, complete, wait, events, status } = explained;
  if (output === "json") return `${JSON.stringify(explained)}\n`;
  if (output === "yaml") return stringify(explained);
  const all = [...securityGroup, ...rounds].flat();
  const calls = all.flatMap((step) => step.calls);
  const lines = [
    ...securityGroup.flatMap((round, i) => roundLines(`security group, round ${i + 1}:`, round)),
    ...rounds.flatMap((round, i) => roundLines(`round ${i + 1}:`, round)),
    ...events.map((event) => `event ${event.type} ${event.reason}: ${event.message}`),
    ...(wait === undefined ? [] : [`then waits for ${wait.for}`]),
    `status ${JSON.stringify(status)}`,
    all.length === 0
      ? "nothing to do"
      : `${all.length} steps in ${securityGroup.length + rounds.length} rounds, ${calls.length} calls`,
    ...(complete
      ? []
      : ["a load balancer is in ERROR: if the cloud does not let it be failed over, something else comes of it"]),
  ];
  return `${lines.join("\n")}\n`;
}

/** A heading, and the steps with their calls. */
function roundLines(heading: string, round: ExplainedRound<{ readonly type: string }>): string[] {
  return [heading, ...round.flatMap(({ step, calls }) => [nameOf(step), ...calls.map(callLine)])];
}

/** Of a step for the other address family: which. */
function nameOf(step: { readonly type: string; readonly step?: { readonly type: string } }): string {
  return step.step ? `${step.step.type} (other family)` : step.type;
}

function callLine({ method, service, route }: PlannedCall): string {
  return `    ${method} ${service} ${route}`;
}
