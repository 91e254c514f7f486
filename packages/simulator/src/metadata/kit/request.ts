import type { Context } from "hono";
import type { Server } from "../../compute/model.ts";
import type { ServerDocuments } from "../rules/documents.ts";

/** The server that a request comes from. */
export const asking = ({ tables }: ServerDocuments, c: Context): Server | undefined =>
  tables.servers.get(c.req.header("x-instance-id") ?? "");

/** Nova's page for what is not there. */
export const missing = (c: Context): Response =>
  c.text("404 Not Found\n\nThe resource could not be found.\n\n   ", 404);
