import type { ServiceClient } from "../session/client.ts";
import type * as M from "../types/container-infrastructure.ts";
import { createCollection } from "./collection.ts";
import { objectIn } from "./wire.ts";

const PATCHED = { method: "PATCH" } as const;

/** Magnum. Changes are JSON patches. */
export function createContainerInfrastructureService(client: ServiceClient): M.ContainerInfrastructureService {
  const pem = (answer: unknown): string => objectIn<{ pem: string }>(answer, "").pem;
  return {
    clusterTemplates: createCollection<M.ClusterTemplate, M.ClusterTemplateCreate, M.JsonPatch>(client, {
      route: "/clustertemplates",
      listRoute: "/clustertemplates/detail",
      one: "",
      many: "clustertemplates",
      change: PATCHED,
    }),
    clusters: createCollection<M.MagnumCluster, M.MagnumClusterCreate, M.JsonPatch>(client, {
      route: "/clusters",
      listRoute: "/clusters/detail",
      one: "",
      many: "clusters",
      change: PATCHED,
    }),
    nodeGroups: (clusterId) =>
      createCollection<M.NodeGroup, M.NodeGroupCreate, M.JsonPatch>(client, {
        route: "/clusters/{id}/nodegroups",
        parents: [clusterId],
        one: "",
        many: "nodegroups",
        change: PATCHED,
      }),
    async certificateAuthority(id, options) {
      return pem(await client.send({ method: "GET", route: "/certificates/{id}", ids: [id] }, options));
    },
    async sign(id, request, { type, ...options } = {}) {
      const body = { cluster_uuid: id, csr: request, ...(type === undefined ? {} : { ca_cert_type: type }) };
      return pem(await client.send({ method: "POST", route: "/certificates", body }, options));
    },
    async resize(id, to, options) {
      await client.send({ method: "POST", route: "/clusters/{id}/actions/resize", ids: [id], body: to }, options);
    },
  };
}
