import { systemClock, InputError } from "@causeway/foundation";
import { defaultCloudConfig, explainService, parseControllerConfig } from "@causeway/cloud-controller-manager";
import { createClient, createInformers, Service } from "@causeway/kubernetes";
import { connectCloud, parseCloudConf, watchCloud } from "@causeway/openstack";
import { chosenCloud, chosenCluster } from "../../composition/chosen.ts";
import { readCloudConf } from "../../composition/config-files.ts";
import type { OutputFormat } from "../../options/output.ts";
import { exitStatus } from "../../terminal/report-error.ts";
import type { PlanServiceOptions } from "./options.ts";
import { hasSteps, renderPlan, type PlannedService } from "./render.ts";
import { commandLog } from "../../terminal/text-log.ts";
import { objectKeyOf, type NamespacedKey } from "../../options/object-key.ts";
import { documentOf } from "../../terminal/documents.ts";

/**
 * Reports what reconciles of Services would do now, and the calls they take, without doing it.
 * @throws SERVICE_NOT_FOUND, CLOUD_CONF_UNREADABLE, FLAG_INVALID
 */
export async function planService(
  name: string | undefined,
  options: PlanServiceOptions,
  signal: AbortSignal,
): Promise<void> {
  const log = commandLog(options.logLevel);
  const cluster = chosenCluster(options);
  const namespace = options.namespace ?? cluster.namespace ?? "default";
  const wanted = name === undefined || options.allNamespaces ? undefined : objectKeyOf(name, namespace);
  const { config, cloud: cloudConfig } = configurationOf(options);
  const client = createClient(cluster);
  const cloud = connectCloud(cloudConfig, { clock: systemClock, log });
  const watch = watchCloud(cloud, { clock: systemClock, log });
  const informers = createInformers(client, { log });
  const stopping = new AbortController();
  const life = AbortSignal.any([signal, stopping.signal]);
  const running = informers.run(life);
  try {
    const using = { informers, cloud, watch, config, clusterName: options.clusterName, clock: systemClock };
    const services = informers.for(Service);
    await services.whenSynced(signal);
    const keys = wanted ? [wanted] : balanced(services.list(options.allNamespaces ? undefined : namespace));
    const plans: PlannedService[] = [];
    for (const key of keys) {
      const explained = await explainService(using, key, signal);
      if (explained) plans.push({ service: `${key.namespace}/${key.name}`, explained });
    }
    if (wanted && plans.length === 0) throw notFound(wanted);
    process.stdout.write(render(plans, wanted !== undefined, options.output));
    if (options.detailedExitcode && plans.some(({ explained }) => hasSteps(explained)))
      process.exitCode = exitStatus.findings;
  } finally {
    stopping.abort();
    await running;
    await watch.close();
    await Promise.all([cloud.close(), client.close()]);
  }
}

/** What cloud.conf says, where one is given; else the chosen cloud with the defaults of a cloud.conf. */
function configurationOf(options: PlanServiceOptions) {
  if (options.cloudConfig === undefined) return { config: defaultCloudConfig(), cloud: chosenCloud(options) };
  const text = readCloudConf(options.cloudConfig);
  const { config, warnings } = parseControllerConfig(text);
  for (const warning of warnings) process.stderr.write(`warning: cloud.conf: ${warning}\n`);
  return { config, cloud: parseCloudConf(text) };
}

function balanced(services: readonly Service[]): NamespacedKey[] {
  return services
    .filter(({ spec }) => spec?.type === "LoadBalancer")
    .map(({ metadata }) => ({ namespace: metadata.namespace ?? "default", name: metadata.name ?? "" }))
    .sort((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
}

function notFound({ namespace, name }: NamespacedKey): InputError {
  return new InputError(
    "SERVICE_NOT_FOUND",
    `There is no Service ${namespace}/${name} of type LoadBalancer for this controller.`,
    { hint: "See `kubectl get services -A`; one with another loadBalancerClass is another controller's." },
  );
}

/** One Service that was requested is its explanation alone; several are a list. */
function render(plans: readonly PlannedService[], isOne: boolean, output: OutputFormat): string {
  const result = isOne ? plans[0]?.explained : plans.map(({ service, explained }) => ({ service, ...explained }));
  const document = documentOf(result, output);
  if (document !== undefined) return document;
  if (plans.length === 0) return "There is no Service of type LoadBalancer.\n";
  return plans
    .map(({ service, explained }) => (isOne ? "" : `Service ${service}\n`) + renderPlan(explained))
    .join("\n");
}
