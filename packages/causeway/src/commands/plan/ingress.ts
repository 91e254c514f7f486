import { InputError, systemClock } from "@causeway/foundation";
import { createClient, createInformers, loadKubeconfig, type ClusterConfig } from "@causeway/kubernetes";
import { explainGateway, explainIngress, readConfig, type ConfigFile } from "@causeway/octavia-ingress";
import { connectCloud, parseCloudConf, watchCloud } from "@causeway/openstack";
import { readIngressConfig } from "../../composition/config-files.ts";
import { exitStatus } from "../../terminal/report-error.ts";
import { commandLog } from "../../terminal/text-log.ts";
import type { PlanIngressOptions } from "./options.ts";
import { hasSteps, renderPlan } from "./render.ts";
import { objectKeyOf, type NamespacedKey } from "../../options/object-key.ts";
import { documentOf } from "../../terminal/documents.ts";

/**
 * Prints what reconciles of an Ingress or a Gateway would do now, and the calls they take, without doing it.
 * @throws INGRESS_NOT_FOUND, INGRESS_CONFIG_UNREADABLE, INGRESS_CONFIG_INVALID, FLAG_INVALID
 */
export async function planIngress(
  kind: "ingress" | "gateway",
  name: string,
  options: PlanIngressOptions,
  signal: AbortSignal,
): Promise<void> {
  const log = commandLog(options.logLevel);
  const key = objectKeyOf(name, options.namespace ?? "default");
  const file = readConfig(readIngressConfig(options.config));
  for (const warning of file.warnings) process.stderr.write(`warning: ${options.config}: ${warning}\n`);
  const client = createClient(clusterOf(options, file));
  const cloud = connectCloud(parseCloudConf(file.cloudConf), { clock: systemClock, log });
  const watch = watchCloud(cloud, { clock: systemClock, log });
  const informers = createInformers(client, { log });
  const stopping = new AbortController();
  const running = informers.run(AbortSignal.any([signal, stopping.signal]));
  try {
    const using = { config: file.config, informers, cloud, watch, clock: systemClock };
    const explain = kind === "ingress" ? explainIngress : explainGateway;
    const explained = await explain(using, key, signal);
    if (!explained) throw notFound(kind, key);
    process.stdout.write(documentOf(explained, options.output) ?? renderPlan(explained));
    if (options.detailedExitcode && hasSteps(explained)) process.exitCode = exitStatus.findings;
  } finally {
    stopping.abort();
    await running;
    await watch.close();
    await Promise.all([cloud.close(), client.close()]);
  }
}

function clusterOf({ kubeconfig }: PlanIngressOptions, { kubernetes }: ConfigFile): ClusterConfig {
  const { host } = kubernetes;
  const path = kubeconfig ?? kubernetes.kubeconfig;
  if (path === undefined && host !== undefined) return { server: host };
  const config = loadKubeconfig(path === undefined ? {} : { path });
  return host === undefined ? config : { ...config, server: host };
}

function notFound(kind: "ingress" | "gateway", { namespace, name }: NamespacedKey): InputError {
  const [title, list] = kind === "ingress" ? ["Ingress", "ingresses"] : ["Gateway", "gateways"];
  return new InputError("INGRESS_NOT_FOUND", `There is no ${title} ${namespace}/${name} for this controller.`, {
    hint: `See \`kubectl get ${list} -A\`; one of another class is another controller's.`,
  });
}
