import { Hono } from "hono";
import { messageOf } from "@causeway/foundation";
import { at, bodyOf, isObject } from "../kernel/json.ts";
import { ServiceError } from "../kernel/service-error.ts";
import type { DataPath } from "./data-path.ts";

/** GET: where listeners are on this machine, and both tables. POST: replaces a table of members or clients. */
export function dataPathApp(dataPath: DataPath): Hono {
  const app = new Hono();
  const view = async () => ({ listeners: await dataPath.listeners(), ...dataPath.table.describe() });
  app.get("/", async (c) => c.json(await view()));
  app.post("/", async (c) => {
    const body = await bodyOf(c.req);
    const [members, clients] = [tableOf(at(body, "members")), tableOf(at(body, "clients"))];
    if (!members && !clients) throw refused('Send {"members": {"10.0.0.5:30080": "127.0.0.1:8080"}}, or "clients".');
    try {
      if (members) dataPath.table.setMembers(members);
      if (clients) dataPath.table.setClients(clients);
    } catch (error) {
      throw refused(messageOf(error));
    }
    return c.json(await view());
  });
  return app;
}

function tableOf(value: unknown): Record<string, string> | undefined {
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value);
  if (entries.some(([, to]) => typeof to !== "string")) throw refused("A table is of text.");
  return Object.fromEntries(entries.map(([from, to]) => [from, String(to)]));
}

const refused = (message: string): ServiceError =>
  new ServiceError(400, { error: { code: 400, title: "Bad Request", message } });
