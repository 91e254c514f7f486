import type { AddonSet, AddonSetStatus } from "@causeway/api";
import { isRecord } from "@causeway/foundation";
import type { ObjectKey, Resource, ResourceType } from "@causeway/kubernetes";
import { labels } from "../manifests/names.ts";
import { applicationName, argoLabels, clusterNameOf, waveAnnotation } from "./names.ts";

/** What of Argo CD's Application is written and read here. */
export interface ApplicationSpec {
  readonly project: string;
  readonly source: Readonly<Record<string, unknown>>;
  readonly destination: { readonly name: string; readonly namespace: string };
  readonly syncPolicy: Readonly<Record<string, unknown>>;
}

/** What Argo CD reports of an Application. */
export interface ApplicationStatus {
  readonly sync?: { readonly status?: string; readonly comparedTo?: unknown };
  readonly health?: { readonly status?: string; readonly message?: string };
  readonly operationState?: { readonly phase?: string; readonly message?: string; readonly retryCount?: number };
  readonly resources?: readonly { readonly status?: string; readonly requiresPruning?: boolean }[];
  readonly conditions?: readonly { readonly type?: string; readonly message?: string }[];
}

/** What Argo CD applies from one source to one cluster. */
export type Application = Resource<ApplicationSpec, ApplicationStatus>;

/** Its resource. */
export const Application: ResourceType<Application> = {
  group: "argoproj.io",
  version: "v1alpha1",
  kind: "Application",
  plural: "applications",
  namespaced: true,
};

type Operation = NonNullable<ApplicationStatus["operationState"]>;
type Addon = AddonSet["spec"]["addons"][number];
type AddonState = Pick<NonNullable<AddonSetStatus["addons"]>[number], "state"> & { readonly message: string };

/** The Application of an add-on; undefined: the add-on is not handed over. */
export function applicationFor(set: AddonSet, addon: Addon): Application | undefined {
  const { argoCD, clusterName = "" } = set.spec;
  const { application, wave = 0 } = addon;
  if (argoCD === undefined || application === undefined) return undefined;
  const { namespace: setNamespace = "", name } = set.metadata;
  const { repoURL, targetRevision = "HEAD", path, chart, recurse, releaseName, values } = application;
  const helm = {
    ...(releaseName === undefined ? {} : { releaseName }),
    ...(values === undefined ? {} : { values }),
  };
  const { project = "default", selfHeal = true, prune = false } = argoCD;
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: {
      namespace: argoCD.namespace,
      name: applicationName(set, addon.name),
      labels: {
        [labels.set]: name,
        [labels.addon]: addon.name,
        [argoLabels.clusterNamespace]: setNamespace,
        [argoLabels.cluster]: clusterName,
      },
      annotations: { [waveAnnotation]: String(wave) },
    },
    spec: {
      project,
      source: {
        repoURL,
        targetRevision,
        ...(path === undefined ? {} : { path }),
        ...(chart === undefined ? {} : { chart }),
        ...(recurse === true ? { directory: { recurse } } : {}),
        ...(Object.keys(helm).length === 0 ? {} : { helm }),
      },
      destination: {
        name: clusterNameOf({ namespace: setNamespace, name: clusterName }),
        namespace: application.namespace ?? "default",
      },
      syncPolicy: {
        automated: { prune, selfHeal },
        ...(application.createNamespace === true ? { syncOptions: ["CreateNamespace=true"] } : {}),
        // Without it Argo CD tries each revision once.
        retry: { limit: -1, backoff: { duration: "5s", factor: 2, maxDuration: "3m" } },
      },
    },
  };
}

/**
 * Does an object have everything that is wanted? More in maps is accepted: it belongs to others. What is false may be
 * missing, as Argo CD writes it.
 */
export function covers(actual: unknown, wanted: unknown): boolean {
  if (isRecord(wanted))
    return Object.entries(wanted).every(([key, value]) => covers(isRecord(actual) ? actual[key] : undefined, value));
  if (Array.isArray(wanted))
    return (
      Array.isArray(actual) && actual.length === wanted.length && wanted.every((each, i) => covers(actual[i], each))
    );
  return actual === wanted || (wanted === false && actual === undefined);
}

/** Is the live Application as declared? Its labels say whose it is, its spec what Argo CD does. */
export function isAsDeclared(live: Application, wanted: Application): boolean {
  const { labels: of, annotations } = wanted.metadata;
  return covers(live.spec, wanted.spec) && covers(live.metadata, { labels: of, annotations });
}

/** What Argo CD reports of an Application, in the words of an AddonSet's status. */
export function stateOfApplication(live: Application, wanted: Application): AddonState {
  const { sync = {}, health = {}, operationState = {}, conditions = [] } = live.status ?? {};
  const failure = conditions.find(({ type }) => type?.endsWith("Error"));
  if (failure) return { state: "Failed", message: `Argo CD: ${failure.type}: ${failure.message ?? ""}` };
  const { source, destination } = wanted.spec;
  if (!covers(sync.comparedTo, { source, destination }))
    return { state: "Applying", message: "Argo CD has not compared the cluster with the repository yet" };
  if (sync.status !== "Synced" && !isOnlyUnpruned(live, wanted)) return outOfSync(sync.status, operationState);
  if (health.status === "Healthy" || health.status === "Suspended") return { state: "Applied", message: "" };
  const why = health.message === undefined || health.message === "" ? "" : `: ${health.message}`;
  return { state: "Unhealthy", message: `Argo CD: health is ${health.status ?? "unknown"}${why}` };
}

/** With retries a failed sync is Running again, and counted. */
function outOfSync(sync = "unknown", { phase, message = "", retryCount = 0 }: Operation): AddonState {
  const said = message === "" ? "" : `: ${message}`;
  const isOver = phase === "Failed" || phase === "Error" || (phase === "Running" && retryCount > 0);
  return { state: isOver ? "Failed" : "Applying", message: `Argo CD: sync is ${sync}${said}` };
}

/** Does it differ only in what the repository no longer has, and pruning is not wanted? Argo CD says OutOfSync then. */
function isOnlyUnpruned(live: Application, wanted: Application): boolean {
  const { automated } = wanted.spec.syncPolicy as { readonly automated?: { readonly prune?: boolean } };
  const { resources = [], operationState } = live.status ?? {};
  const isOther = resources.some(({ status, requiresPruning }) => status === "OutOfSync" && requiresPruning !== true);
  return automated?.prune !== true && resources.length > 0 && !isOther && operationState?.phase === "Succeeded";
}

/** Identity of an Application for messages. */
export function applicationText({ namespace, name }: ObjectKey): string {
  return `Application ${namespace}/${name}`;
}
