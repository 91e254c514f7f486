import { Hono } from "hono";
import type { Kernel, Service } from "../kernel/interface.ts";
import { mountCertificates } from "./resources/certificates.ts";
import { mountClusterTemplates } from "./resources/cluster-templates.ts";
import { mountClusters } from "./resources/clusters.ts";
import { heatClusters, magnumError } from "./model.ts";
import { mountNodeGroups } from "./resources/node-groups.ts";

/**
 * Magnum with its Heat driver, as far as a migration touches it: clusters, templates and node groups are read,
 * certificates are signed by a cluster's authorities, and changes are refused, by policy (403) or since they are not
 * simulated (400).
 */
export function createContainerInfraService(kernel: Kernel): Service {
  const clusters = heatClusters(kernel);
  const app: Service["app"] = new Hono();
  app.get("/v1", (c) => c.json({ id: "v1", media_types: [] }));
  mountClusters(app, clusters);
  mountNodeGroups(app, clusters);
  mountClusterTemplates(app, clusters);
  mountCertificates(app, clusters, kernel);
  app.all("*", () => {
    throw magnumError(404, "The resource could not be found.");
  });
  return { type: "container-infra", name: "magnum", catalogPath: "/v1", app };
}
