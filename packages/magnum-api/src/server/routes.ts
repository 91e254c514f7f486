import { resizeCluster, upgradeCluster } from "../resources/actions.ts";
import { rotateAuthority, showCertificate, signCertificate } from "../resources/certificates.ts";
import { createCluster, deleteCluster, listClusters, patchCluster, showCluster } from "../resources/clusters.ts";
import { rotateCredential } from "../resources/credentials.ts";
import { createGroup, deleteGroup, listGroups, patchGroup, showGroup } from "../resources/nodegroups.ts";
import { createFederation, listFederations, listServices, showFederation, showStats } from "../resources/others.ts";
import { createQuota, deleteQuota, listQuotas, patchQuota, showQuota } from "../resources/quotas.ts";
import { createTemplate, deleteTemplate, listTemplates, patchTemplate, showTemplate } from "../resources/templates.ts";
import type { Handler } from "../call/call.ts";
import { onlyParameters } from "../call/page.ts";

/** What a path serves. Segments that begin with a colon are names. */
export interface Route {
  readonly path: string;
  readonly methods: Readonly<Record<string, Handler>>;
  /** The first minor version that has it. */
  readonly since?: number;
}

/** A handler that has no parameters, or those of the names: others are refused, as lists refuse them. */
const only =
  (handler: Handler, ...names: readonly string[]): Handler =>
  (api, call) => {
    onlyParameters(call.query, names);
    return handler(api, call);
  };

/** Paths below /v1. A path that several fit is the first of them. */
export const routes: readonly Route[] = [
  { path: "clusters", methods: { GET: (api, call) => listClusters(api, call), POST: only(createCluster) } },
  { path: "clusters/detail", methods: { GET: (api, call) => listClusters(api, call, true) } },
  { path: "clusters/:cluster", methods: { GET: only(showCluster), PATCH: patchCluster, DELETE: deleteCluster } },
  { path: "clusters/:cluster/actions/resize", methods: { POST: only(resizeCluster) } },
  { path: "clusters/:cluster/actions/upgrade", methods: { POST: only(upgradeCluster) } },
  { path: "clusters/:cluster/nodegroups", since: 9, methods: { GET: listGroups, POST: only(createGroup) } },
  {
    path: "clusters/:cluster/nodegroups/:group",
    since: 9,
    methods: { GET: only(showGroup), PATCH: only(patchGroup), DELETE: only(deleteGroup) },
  },
  { path: "clustertemplates", methods: { GET: (api, call) => listTemplates(api, call), POST: only(createTemplate) } },
  { path: "clustertemplates/detail", methods: { GET: (api, call) => listTemplates(api, call, true) } },
  {
    path: "clustertemplates/:template",
    methods: { GET: only(showTemplate), PATCH: only(patchTemplate), DELETE: deleteTemplate },
  },
  { path: "certificates", methods: { POST: only(signCertificate) } },
  {
    path: "certificates/:cluster",
    methods: { GET: only(showCertificate, "ca_cert_type"), PATCH: only(rotateAuthority) },
  },
  { path: "credentials/:cluster", since: 12, methods: { PATCH: only(rotateCredential) } },
  { path: "quotas", methods: { GET: listQuotas, POST: only(createQuota) } },
  {
    path: "quotas/:project/:resource",
    methods: { GET: only(showQuota), PATCH: only(patchQuota), DELETE: only(deleteQuota) },
  },
  { path: "stats", methods: { GET: showStats } },
  { path: "mservices", methods: { GET: only(listServices) } },
  { path: "federations", methods: { GET: (api, call) => listFederations(api, call), POST: only(createFederation) } },
  { path: "federations/detail", methods: { GET: (api, call) => listFederations(api, call, true) } },
  {
    path: "federations/:federation",
    methods: { GET: only(showFederation), PATCH: only(showFederation), DELETE: only(showFederation) },
  },
];

/** The route of a path, whose segments are encoded, with the names in it; undefined: there is none. */
export function routeOf(
  path: string,
): { readonly route: Route; readonly names: Readonly<Record<string, string>> } | undefined {
  const segments = path.split("/").map((segment) => decodeURIComponent(segment));
  for (const route of routes) {
    const names = match(route.path.split("/"), segments);
    if (names) return { route, names };
  }
  return undefined;
}

function match(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const names: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) {
    const segment = segments[at] ?? "";
    if (part.startsWith(":")) {
      if (segment === "") return undefined;
      names[part.slice(1)] = segment;
    } else if (part !== segment) return undefined;
  }
  return names;
}
