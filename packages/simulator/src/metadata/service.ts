import { Hono } from "hono";
import type { Kernel } from "../kernel/interface.ts";
import type { NetworkLinks } from "../kernel/links.ts";
import { computeTables } from "../compute/model.ts";
import { asking, missing } from "./kit/request.ts";
import { mountDocuments } from "./resources/documents.ts";
import type { ServerDocuments } from "./rules/documents.ts";

/**
 * What a server reads at http://169.254.169.254, as Neutron's proxy requests it from Nova: `X-Instance-ID` identifies
 * the server, for there is no network of which one could see where a request comes from.
 * https://docs.openstack.org/nova/latest/user/metadata.html
 */
export function createMetadataService(kernel: Kernel, network: NetworkLinks): Hono {
  const documents: ServerDocuments = { tables: computeTables(kernel), network };
  const app = new Hono();
  app.use("*", async (c, next) => {
    if (c.req.header("x-instance-id") === undefined)
      return c.text("X-Instance-ID header is missing from request.", 400);
    return asking(documents, c) ? next() : missing(c);
  });
  mountDocuments(app, documents);
  return app;
}
