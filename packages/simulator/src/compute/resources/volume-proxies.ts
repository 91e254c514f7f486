import { at, bodyOf, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import type { Caller } from "../../kernel/interface.ts";
import { invalid } from "../rules/create-request.ts";
import { asked, callerUntil, rowsOf } from "../kit/old-proxy.ts";
import { computeError, type ComputeApp, type ComputeParts } from "../model.ts";
import { pythonRepr } from "../../kernel/python.ts";
import { rootOf, type ComputeContext } from "../views.ts";

/** Nova's proxies of Cinder's volumes and snapshots, reads and creates, before 2.36. */
export function mountVolumeProxies(app: ComputeApp, parts: ComputeParts): void {
  addRoutes(app, parts, { path: "os-volumes", at: "volumes", one: "volume", view: volumeView });
  addRoutes(app, parts, { path: "os-snapshots", at: "snapshots", one: "snapshot", view: snapshotView });
  app.post("/v2.1/os-volumes", async (c) => {
    const caller = callerUntil(c);
    const given = at(await bodyOf(c.req), "volume");
    checkSize(given);
    const body = { volume: volumeRequest(given) };
    const refusals = { 413: [403] } as const;
    const question = { service: "volumev3", caller, method: "POST", path: `${root(caller)}/volumes` } as const;
    const volume = (await asked(parts, { ...question, body, refusals }))["volume"] as JsonObject;
    const location = `${rootOf(c)}/v2.1/os-volumes/${String(volume["id"])}`;
    return c.json({ volume: volumeView(volume) }, 200, { location });
  });
  app.post("/v2.1/os-snapshots", async (c) => {
    const caller = callerUntil(c);
    const given = at(await bodyOf(c.req), "snapshot");
    if (textAt(given, "volume_id") === undefined)
      throw invalid("snapshot", given, "'volume_id' is a required property");
    const snapshot = {
      volume_id: textAt(given, "volume_id"),
      name: textAt(given, "display_name") ?? null,
      description: textAt(given, "display_description") ?? null,
      force: at(given, "force") ?? false,
    };
    const question = { service: "volumev3", caller, method: "POST", path: `${root(caller)}/snapshots` } as const;
    const made = await asked(parts, { ...question, body: { snapshot }, refusals: { 413: [403] } });
    return c.json({ snapshot: snapshotView(made["snapshot"] as JsonObject) });
  });
}

const root = ({ projectId }: Caller) => `/v3/${projectId}`;

interface Kind {
  readonly path: string;
  readonly at: string;
  readonly one: string;
  readonly view: (row: JsonObject) => object;
}

function addRoutes(app: ComputeApp, parts: ComputeParts, kind: Kind): void {
  const list = async (c: ComputeContext) => {
    const caller = callerUntil(c);
    const path = `${root(caller)}/${kind.at}/detail`;
    const rows = rowsOf(await asked(parts, { service: "volumev3", caller, method: "GET", path }), kind.at);
    const from = Number(c.req.query("offset") ?? 0);
    const limit = Number(c.req.query("limit") ?? 1000);
    return c.json({ [kind.at]: rows.slice(from, from + limit).map(kind.view) });
  };
  app.get(`/v2.1/${kind.path}`, list);
  app.get(`/v2.1/${kind.path}/detail`, list);
  app.get(`/v2.1/${kind.path}/:id`, async (c) => {
    const caller = callerUntil(c);
    const path = `${root(caller)}/${kind.at}/${encodeURIComponent(c.req.param("id"))}`;
    const found = await asked(parts, { service: "volumev3", caller, method: "GET", path });
    return c.json({ [kind.one]: kind.view(found[kind.one] as JsonObject) });
  });
  app.delete(`/v2.1/${kind.path}/:id`, async (c) => {
    const caller = callerUntil(c);
    const path = `${root(caller)}/${kind.at}/${encodeURIComponent(c.req.param("id"))}`;
    await asked(parts, { service: "volumev3", caller, method: "DELETE", path });
    return c.body(null, 202);
  });
}

function checkSize(given: unknown): void {
  if (!isObject(given)) throw computeError(400, "'volume' is a required property");
  const size = given["size"];
  if (size === undefined && given["snapshot_id"] === undefined) {
    throw invalid("volume", given, "'size' is a required property");
  }
  if (typeof size === "string" && !/^[0-9]+$/.test(size)) {
    throw invalid("size", size, `${pythonRepr(size)} does not match '^[0-9]+$'`);
  }
  if (size !== undefined && Number(size) < 1)
    throw invalid("size", size, `${Number(size)} is less than the minimum of 1`);
}

const volumeRequest = (given: unknown) => ({
  size: Number(at(given, "size")),
  name: textAt(given, "display_name") ?? null,
  description: textAt(given, "display_description") ?? null,
  volume_type: textAt(given, "volume_type") ?? null,
  snapshot_id: textAt(given, "snapshot_id") ?? null,
  availability_zone: textAt(given, "availability_zone") ?? null,
  metadata: isObject(at(given, "metadata")) ? at(given, "metadata") : {},
});

function volumeView(volume: JsonObject): object {
  const attachment = rowsOf(volume, "attachments")[0];
  return {
    id: volume["id"],
    status: volume["status"],
    size: volume["size"],
    availabilityZone: volume["availability_zone"],
    createdAt: volume["created_at"],
    attachments: [
      attachment === undefined
        ? {}
        : {
            id: volume["id"],
            volumeId: volume["id"],
            serverId: attachment["server_id"],
            device: attachment["device"],
          },
    ],
    displayName: volume["name"],
    displayDescription: volume["description"],
    volumeType: volume["volume_type"],
    snapshotId: volume["snapshot_id"],
    metadata: volume["metadata"] ?? {},
  };
}

const snapshotView = (snapshot: JsonObject): object => ({
  id: snapshot["id"],
  volumeId: snapshot["volume_id"],
  status: snapshot["status"],
  size: snapshot["size"],
  createdAt: snapshot["created_at"],
  displayName: snapshot["name"],
  displayDescription: snapshot["description"],
});
