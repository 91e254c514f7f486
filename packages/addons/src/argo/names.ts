import { createHash } from "node:crypto";
import type { AddonSet } from "@causeway/api";
import type { KubeObject, ObjectKey } from "@causeway/kubernetes";
import { labels } from "../manifests/names.ts";

/** On an AddonSet: Argo CD has Applications or the cluster's Secret of it. */
export const argoFinalizer = "addons.causeway.dev/argo-cd";
/** On an Application, from Argo CD: it deletes the Application's objects before the Application is gone. */
export const cascadingFinalizer = "resources-finalizer.argocd.argoproj.io";
/** On a Namespace, "true": AddonSets may hand their add-ons to the Argo CD that is in it. */
export const consentLabel = "addons.causeway.dev/argo-cd";

/**
 * On such a Namespace, the AppProjects that namespaces may use: "team-a=apps,team-b=other". Without it all may use the
 * project "default", and no other.
 */
export const projectsAnnotation = "addons.causeway.dev/argo-cd-projects";

/** Labels of the objects that are created for Argo CD. */
export const argoLabels = {
  /** On Secrets, from Argo CD: "cluster". */
  secretType: "argocd.argoproj.io/secret-type",
  /** On what we make for Argo CD: namespace and name of the Cluster. */
  clusterNamespace: "addons.causeway.dev/cluster-namespace",
  cluster: "addons.causeway.dev/cluster",
} as const;

/** On an Application: the wave of its add-on. */
export const waveAnnotation = "addons.causeway.dev/wave";

function hashed(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 10);
}

/** The Application of one add-on. The hash keeps names apart, whatever dashes they have. */
export function applicationName({ metadata: { namespace = "", name } }: AddonSet, addon: string): string {
  return `${name.slice(0, 25).replace(/[-.]+$/, "")}-${addon.slice(0, 25)}-${hashed(namespace, name, addon)}`;
}

/** The Secret from which Argo CD knows how the cluster is reached. */
export function clusterSecretName({ namespace, name }: ObjectKey): string {
  return `cluster-${name.slice(0, 40)}-${hashed(namespace, name)}`;
}

/** What Argo CD calls the cluster. Neither part has a dot. */
export function clusterNameOf({ namespace, name }: ObjectKey): string {
  return `${namespace}.${name}`;
}

/** The AddonSet that an Application was made for. */
export function setOf({ metadata }: KubeObject): ObjectKey | undefined {
  const name = metadata.labels?.[labels.set];
  const namespace = metadata.labels?.[argoLabels.clusterNamespace];
  return name === undefined || namespace === undefined ? undefined : { namespace, name };
}

/** Was it made for the Cluster? */
export function isOfCluster({ metadata }: KubeObject, { namespace, name }: ObjectKey): boolean {
  const { labels: of = {} } = metadata;
  return of[argoLabels.clusterNamespace] === namespace && of[argoLabels.cluster] === name;
}

/** May sets of the namespace use the project, by the annotation of Argo CD's namespace? */
export function mayUseProject(argo: KubeObject, namespace: string, project: string): boolean {
  const listed = argo.metadata.annotations?.[projectsAnnotation];
  if (listed === undefined) return project === "default";
  return listed.split(",").some((each) => each.trim() === `${namespace}=${project}`);
}
