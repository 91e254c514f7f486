import {
  explainCluster,
  explainMachine,
  openSources,
  type ClusterExplanation,
  type Explanation,
} from "@causeway/cluster-api-openstack";
import { InputError, systemClock } from "@causeway/foundation";
import { createInformers } from "@causeway/kubernetes";
import { createCloudPool } from "@causeway/openstack";
import { withManagement } from "../../clusters/place.ts";
import { exitStatus } from "../../terminal/report-error.ts";
import { commandLog } from "../../terminal/text-log.ts";
import { changedOf, nothingChanged, readChanged } from "./changed.ts";
import type { PlanClusterOptions } from "./options.ts";
import { hasSteps, renderPlan } from "./render.ts";
import { objectKeyOf, type NamespacedKey } from "../../options/object-key.ts";
import { documentOf } from "../../terminal/documents.ts";

/**
 * Prints what reconciles of a Cluster or a Machine would do to its cloud, and the calls they take, without doing it.
 * @throws CLUSTER_NOT_FOUND, MACHINE_NOT_FOUND, PLAN_FILE_INVALID, FLAG_INVALID
 */
export async function planInfrastructure(
  kind: "cluster" | "machine",
  name: string | undefined,
  options: PlanClusterOptions,
  signal: AbortSignal,
): Promise<void> {
  const log = commandLog(options.logLevel);
  await withManagement(options, async ({ client, namespace }) => {
    const changed =
      options.filename === undefined
        ? nothingChanged
        : await readChanged(options.filename, { client, namespace }, signal);
    const own = kind === "cluster" ? changed.clusters : changed.machines;
    const key = keyOf(name, own[0]?.metadata, namespace);
    const clouds = createCloudPool({ clock: systemClock, log });
    const informers = createInformers(client, { log });
    const stopping = new AbortController();
    const running = informers.run(AbortSignal.any([signal, stopping.signal]));
    try {
      const sources = openSources({ informers, clouds, clock: systemClock, givenSecrets: changed.secrets });
      await sources.whenSynced(signal);
      const from = { ...sources, clock: systemClock };
      const machine = changed.machines.find(({ metadata }) => metadata.name === key.name);
      const explained =
        kind === "cluster"
          ? await explainCluster(from, key, changedOf(changed, key), signal)
          : await explainMachine(from, key, machine, signal);
      if (!explained) throw notFound(kind, key);
      process.stdout.write(render(explained, options.output));
      if (options.detailedExitcode && parts(explained).some(hasSteps)) process.exitCode = exitStatus.findings;
    } finally {
      stopping.abort();
      await running;
      await clouds.close();
    }
  });
}

/** What was given, or the first object of the file. */
function keyOf(
  text: string | undefined,
  first: { name: string; namespace?: string } | undefined,
  usual: string,
): NamespacedKey {
  if (text === undefined) {
    if (first) return { namespace: first.namespace ?? usual, name: first.name };
    throw new InputError("FLAG_INVALID", "There is no name, and no file with one.", {
      hint: "Specify NAMESPACE/NAME.",
    });
  }
  return objectKeyOf(text, usual);
}

function notFound(kind: "cluster" | "machine", { namespace, name }: NamespacedKey): InputError {
  const path = `${namespace}/${name}`;
  return kind === "cluster"
    ? new InputError("CLUSTER_NOT_FOUND", `There is no Cluster ${path} with an OpenStackCluster.`, {
        hint: "See `kubectl get clusters -A`; give the manifests of a new one with -f.",
      })
    : new InputError("MACHINE_NOT_FOUND", `There is no Machine ${path} with an OpenStackMachine.`, {
        hint: "See `kubectl get machines -A`.",
      });
}

function parts(explained: Explanation | ClusterExplanation): Explanation[] {
  return [explained, ...("machines" in explained ? explained.machines.map((group) => group.explained) : [])];
}

function render(explained: Explanation | ClusterExplanation, output: PlanClusterOptions["output"]): string {
  const document = documentOf(explained, output);
  if (document !== undefined) return document;
  const groups = "machines" in explained ? explained.machines : [];
  return [
    renderPlan(explained),
    ...groups.map(
      ({ of, replicas, explained: one }) =>
        `\n${of}: ${replicas} machine${replicas === 1 ? "" : "s"}, each:\n${renderPlan(one)}`,
    ),
  ].join("");
}
