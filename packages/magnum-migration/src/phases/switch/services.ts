import { CausewayError } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import { probeTargets, type Probe, type Unreached } from "./probe.ts";
import { calledServices, type CalledService } from "./service-users.ts";

/** A Service of webhooks or APIServices that one API server or the other does not reach. */
export interface UnreachedService extends Unreached, CalledService {}

/** Objects of a page, pages of a kind, and Services that are probed: more are reported without a probe. */
const PAGE = 100;
const PAGES = 20;
const MOST = 500;

const paths = {
  mutating: "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
  validating: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
  apiServices: "/apis/apiregistration.k8s.io/v1/apiservices",
} as const;

/** The Services that the API server of a cluster calls, and that fail requests when it cannot. */
export async function readCalledServices(
  client: KubernetesClient,
  signal: AbortSignal,
): Promise<readonly CalledService[]> {
  return calledServices({
    mutating: await listed(client, paths.mutating, signal),
    validating: await listed(client, paths.validating, signal),
    apiServices: await listed(client, paths.apiServices, signal),
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

type Json = Readonly<Record<string, unknown>>;

/** @throws MIGRATE_TOO_MANY for more than is read */
async function listed(client: KubernetesClient, path: string, signal: AbortSignal): Promise<readonly Json[]> {
  const all: Json[] = [];
  let from: string | undefined;
  for (let page = 0; page < PAGES; page += 1) {
    const query = { limit: String(PAGE), ...(from === undefined ? {} : { continue: from }) };
    const body = (await client.request("GET", path, { query, signal })) as {
      readonly items?: readonly Json[];
      readonly metadata?: { readonly continue?: string };
    };
    all.push(...(body.items ?? []));
    from = body.metadata?.continue;
    if (from === undefined || from === "") return all;
  }
  throw new CausewayError("MIGRATE_TOO_MANY", `The cluster has more than ${PAGES * PAGE} objects at ${path}`, {
    hint: "Delete what is not used of them.",
  });
}
