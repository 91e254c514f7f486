import { computeError } from "../../compute/model.ts";
import { at, bodyOf, textAt, type JsonObject } from "../../kernel/json.ts";
import type { Table } from "../../kernel/interface.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { linkedPage } from "../listing.ts";
import { cinder, instantOf, type StorageApp, type StorageEnv, type StorageParts } from "../model.ts";
import { requireStorageAdmin } from "./types.ts";
import { linksOf, type StorageContext } from "../views.ts";

interface QosSpecs {
  readonly id: string;
  readonly name: string;
  readonly consumer: string;
  readonly specs: Readonly<Record<string, string>>;
  readonly created_at: string;
}

const consumers = ["back-end", "front-end", "both"];

/**
 * Quality of service that volume types may have:
 * https://docs.openstack.org/api-ref/block-storage/v3/#quality-of-service-qos-specifications-qos-specs .
 */
export function mountQos(app: StorageApp, parts: StorageParts): void {
  const { kernel, tables } = parts;
  const table: Table<QosSpecs> = kernel.table("_qos_specs", ["name"]);
  const path = "/v3/:project/qos-specs";
  const found = (c: StorageContext, id = c.req.param("id") ?? ""): QosSpecs => {
    requireStorageAdmin(c, "volume_extension:qos_specs_manage:get");
    const specs = table.get(id);
    if (!specs) throw computeError(404, `No such QoS spec ${id}.`);
    return specs;
  };
  const users = (id: string) => tables.types.all().filter((type) => type.qos_specs_id === id);
  mountResource<StorageEnv, QosSpecs>(app, kernel, {
    ...cinder("qos_specs"),
    path,
    many: "qos_specs",
    permit(c, verb) {
      const rule = verb === "list" ? "get_all" : verb;
      if (rule === "get_all" || rule === "create") requireStorageAdmin(c, `volume_extension:qos_specs_manage:${rule}`);
    },
    find: (c) => found(c),
    list(c) {
      // Cinder compares filters with the keys of specifications, which are no names or consumers: no set is found by
      // one.
      const isFiltered = c.req.query("name") !== undefined || c.req.query("consumer") !== undefined;
      return linkedPage(c, "qos_specs", isFiltered ? [] : table.all(), { find: (id) => found(c, id) });
    },
    // An update returns what it was given.
    view: (_c, { id, name, consumer, specs }, verb, given = {}) =>
      verb === "update" ? given : { id, name, consumer, specs },
    around: (c, { id }, verb) => (verb === "update" ? {} : { links: linksOf(c, "qos-specs", id) }),
    create(_c, given) {
      const name = textAt(given, "name");
      if (name === undefined) throw computeError(400, "'name' is a required property");
      if (table.by("name", name).length > 0) throw computeError(409, `QoS Specs ${name} already exists.`);
      const consumer = checkedConsumer(given) ?? "back-end";
      return table.insert({
        id: kernel.newId(),
        name,
        consumer,
        specs: texts(given),
        created_at: instantOf(kernel),
      });
    },
    update(_c, { id, specs }, given) {
      const consumer = checkedConsumer(given);
      const change = { specs: { ...specs, ...texts(given) } };
      return table.update(id, { ...change, ...(consumer === undefined ? {} : { consumer }) });
    },
    remove(c, { id }) {
      const isForced = /^true$/i.test(c.req.query("force") ?? "");
      if (users(id).length > 0 && !isForced) throw computeError(400, "Qos specs still in use.");
      for (const type of users(id)) tables.types.update(type.id, { qos_specs_id: null });
      table.remove(id);
    },
  });
  app.put(`${path}/:id/delete_keys`, async (c) => {
    const keys = at(await bodyOf(c.req), "keys");
    const { id, specs } = found(c);
    const gone = new Set(Array.isArray(keys) ? keys.map(String) : []);
    const missing = [...gone].find((key) => specs[key] === undefined);
    if (missing !== undefined) throw computeError(404, `QoS spec ${id} has no spec with key ${missing}.`);
    table.update(id, { specs: Object.fromEntries(Object.entries(specs).filter(([key]) => !gone.has(key))) });
    return c.body(null, 202);
  });
  app.get(`${path}/:id/associations`, (c) => {
    const types = users(found(c).id);
    const associations = types.map(({ id, name }) => ({ association_type: "volume_type", name, id }));
    return c.json({ qos_associations: associations });
  });
  const associate = (to: boolean) => (c: StorageContext) => {
    const { id } = found(c);
    const type = tables.types.get(c.req.query("vol_type_id") ?? "");
    if (!type) throw computeError(404, `Volume type ${c.req.query("vol_type_id") ?? ""} could not be found.`);
    tables.types.update(type.id, { qos_specs_id: to ? id : null });
    return c.body(null, 202);
  };
  app.get(`${path}/:id/associate`, associate(true));
  app.get(`${path}/:id/disassociate`, associate(false));
  app.get(`${path}/:id/disassociate_all`, (c) => {
    for (const type of users(found(c).id)) tables.types.update(type.id, { qos_specs_id: null });
    return c.body(null, 202);
  });
}

const wrongConsumer =
  "Invalid qos specs: Valid consumer of QoS specs are: QoSConsumerValues(default=<class 'oslo_versionedobjects.fields.UnspecifiedDefault'>,nullable=False,valid_values=('back-end', 'front-end', 'both'))";

function checkedConsumer(given: JsonObject): string | undefined {
  const consumer = textAt(given, "consumer");
  if (consumer !== undefined && !consumers.includes(consumer)) throw computeError(400, wrongConsumer);
  return consumer;
}

const texts = (given: JsonObject) =>
  Object.fromEntries(
    Object.entries(given)
      .filter(([key]) => key !== "name" && key !== "consumer")
      .map(([key, value]) => [key, String(value)]),
  );
