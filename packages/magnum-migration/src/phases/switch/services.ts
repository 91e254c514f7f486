import { CausewayError } from "@causeway/foundation";
import type { KubeObject, KubernetesClient, ResourceType } from "@causeway/kubernetes";
import { probeTargets, type Probe, type Unreached } from "./probe.ts";
import { calledServices, type CalledService } from "./service-users.ts";

/** A Service of webhooks or APIServices that one API server or the other does not reach. */
export interface UnreachedService extends Unreached, CalledService {}

/** Services that are probed: more are reported without a probe. */
const MOST = 500;

type AnyType = ResourceType<KubeObject>;

const clusterWide = (group: string, kind: string): AnyType => ({
  group,
  version: "v1",
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: false,
});

const types = {
  mutating: clusterWide("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
  validating: clusterWide("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
  apiServices: clusterWide("apiregistration.k8s.io", "APIService"),
} as const;

/** The Services that the API server of a cluster calls, and that fail requests when it cannot. */
export async function readCalledServices(
  client: KubernetesClient,
  signal: AbortSignal,
): Promise<readonly CalledService[]> {
  // Their content is read with care, whatever its type says.
  const listed = async (type: AnyType) =>
    (await client.list(type, { signal })).items as unknown as readonly Readonly<Record<string, unknown>>[];
  return calledServices({
    mutating: await listed(types.mutating),
    validating: await listed(types.validating),
    apiServices: await listed(types.apiServices),
  });
}

/**
 * Services of webhooks and aggregated APIs that the hosted API server does not reach: by routes to their pods,
 * or by a tunnel. Any response of theirs will do.
 */
export async function unreachedServices(probe: Probe, signal: AbortSignal): Promise<readonly UnreachedService[]> {
  const all = await readCalledServices(probe.source, signal);
  const targets = all.slice(0, MOST).map((service) => {
    const { namespace, name, port } = service;
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/services/${encodeURIComponent(`https:${name}:${port}`)}/proxy/`;
    return { ...service, path, mark: `service-probed:${namespace}/${name}:${port}`, isResponse: isOfService };
  });
  const found = await probeTargets(probe, targets, signal);
  const problem = `it was not probed: the cluster has more than ${MOST} Services of webhooks and APIServices`;
  return [
    ...found.map(([{ namespace, name, port, users }, one]) => ({ namespace, name, port, users, ...one })),
    ...all.slice(MOST).map((service) => ({ ...service, problem, isUnreachable: false })),
  ];
}

/** A gateway's status is the API server's own: it did not reach the Service. */
function isOfService(error: unknown): boolean {
  if (!(error instanceof CausewayError)) return false;
  const status = error.details["httpStatus"];
  return typeof status === "number" && ![502, 503, 504].includes(status);
}
