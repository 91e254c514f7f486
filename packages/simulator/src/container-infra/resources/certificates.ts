import { signRequest } from "@causeway/foundation";
import type { Kernel, Service, Table } from "../../kernel/interface.ts";
import { bodyOf, textAt } from "../../kernel/json.ts";
import { magnumError, type HeatCluster } from "../model.ts";
import { find } from "../kit/request.ts";

const YEARS = 5 * 365 * 86_400_000;

/** The certificates of a cluster's authorities, and those that they sign. */
export function mountCertificates(app: Service["app"], clusters: Table<HeatCluster>, kernel: Kernel): void {
  app.get("/v1/certificates/:id", (c) => {
    const cluster = find(clusters, c, c.req.param("id"));
    const { certificate } = authorityOf(cluster, c.req.query("ca_cert_type"));
    return c.json({ cluster_uuid: cluster.id, pem: certificate, links: [] });
  });
  app.post("/v1/certificates", async (c) => {
    const body = await bodyOf(c.req);
    const [ident = "", csr = ""] = [textAt(body, "cluster_uuid"), textAt(body, "csr")];
    const cluster = find(clusters, c, ident);
    const options = { usages: ["client", "server"] as const, lifetime: YEARS, now: kernel.clock.now() };
    const pem = await signRequest(authorityOf(cluster, textAt(body, "ca_cert_type")), csr, options).catch(
      () => undefined,
    );
    if (pem === undefined) throw magnumError(400, "Received invalid csr.");
    return c.json({ cluster_uuid: cluster.id, csr, pem, links: [] }, 201);
  });
}

function authorityOf({ authorities }: HeatCluster, type: string | undefined) {
  if (type === "etcd") return authorities.etcd;
  return type === "front-proxy" || type === "front_proxy" ? authorities.frontProxy : authorities.kubernetes;
}
