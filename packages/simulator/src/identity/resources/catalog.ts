import { randomBytes } from "node:crypto";
import { textAt, type JsonObject } from "../../kernel/json.ts";
import { identityError, malformed, schemaError } from "../model.ts";
import { mountPlainKind, plainTable, required, type PlainKind } from "../kit/plain-kinds.ts";
import { baseOf, type IdentityApp, type IdentityContext, type IdentityParts } from "../kit/request.ts";
import { endpointInterfaces, endpointViews } from "../views.ts";

/**
 * Services, endpoints and regions: those of this cloud, which are immutable, and those that an administrator adds.
 * Policies, consumers and credentials, too.
 */
export function mountCatalog(app: IdentityApp, parts: IdentityParts): void {
  for (const kind of [
    services(parts),
    endpoints(parts),
    regions(parts),
    policies,
    mappings,
    consumers,
    credentials,
    groups,
  ]) {
    mountPlainKind(app, parts, kind);
  }
}

const flag = (given: JsonObject): { enabled: boolean } => {
  const { enabled = true } = given;
  if (typeof enabled !== "boolean")
    throw schemaError(`Invalid input for field 'enabled': ${shown(enabled)} is not of type 'boolean'`);
  return { enabled };
};
const shown = (value: unknown): string => (typeof value === "string" ? `'${value}'` : JSON.stringify(value));

function services(parts: IdentityParts): PlainKind {
  const { source } = parts;
  return {
    path: "services",
    one: "service",
    many: "services",
    seeded: (c) =>
      source.services().map(({ service }) => ({
        name: service.name,
        id: service.name,
        type: service.type,
        enabled: true,
        links: { self: `${baseOf(c)}/services/${service.name}` },
      })),
    make: (given) => ({ ...given, type: required(given, "type"), ...flag(given) }),
    check: (given) => (given["enabled"] === undefined ? {} : flag(given)),
    release(id) {
      const table = plainTable(parts, "endpoint");
      for (const endpoint of table.all()) if (endpoint.fields["service_id"] === id) table.remove(endpoint.id);
    },
  };
}

function endpoints(parts: IdentityParts): PlainKind {
  const { source } = parts;
  const seeded = (c: IdentityContext) => endpointViews(source, new URL(c.req.url).origin, baseOf(c));
  // As in Keystone's v2: a region that is named comes into being.
  const regionOf = (given: JsonObject): string | null => {
    const region = textAt(given, "region_id") ?? textAt(given, "region") ?? null;
    const known = plainTable(parts, "region");
    if (region !== null && region !== source.region && !known.get(region)) {
      known.insert({ id: region, fields: { description: "", parent_region_id: null } });
    }
    return region;
  };
  const checkFace = (given: JsonObject): void => {
    flag(given);
    const face = given["interface"];
    if (face === undefined || endpointInterfaces.some((known) => known === face)) return;
    throw schemaError(
      `Invalid input for field 'interface': ${shown(face)} is not one of ['admin', 'internal', 'public']`,
    );
  };
  return {
    path: "endpoints",
    one: "endpoint",
    many: "endpoints",
    seeded,
    make(given) {
      const [service_id, url, face] = [
        required(given, "service_id"),
        required(given, "url"),
        required(given, "interface"),
      ];
      checkFace(given);
      const isKnown =
        plainTable(parts, "service").get(service_id) ?? source.services().find((s) => s.service.name === service_id);
      if (!isKnown) throw malformed("endpoint service_id in service table");
      const region = regionOf(given);
      return { ...given, service_id, url, interface: face, region, region_id: region, ...flag(given) };
    },
    check(given) {
      checkFace(given);
      const region = regionOf(given);
      return region === null ? {} : { region, region_id: region };
    },
  };
}

function regions(parts: IdentityParts): PlainKind {
  const { source } = parts;
  const table = plainTable(parts, "region");
  const isUsed = (id: string): boolean =>
    plainTable(parts, "endpoint")
      .all()
      .some(({ fields }) => fields["region_id"] === id) ||
    table.all().some((child) => child.fields["parent_region_id"] === id && isUsed(child.id));
  const parentOf = (given: JsonObject): string | null => {
    const parent = textAt(given, "parent_region_id") ?? null;
    if (parent === null || parent === source.region || table.get(parent)) return parent;
    throw identityError(404, `Could not find region: ${parent}.`);
  };
  const removeBelow = (id: string): void => {
    for (const child of table.all().filter(({ fields }) => fields["parent_region_id"] === id)) {
      removeBelow(child.id);
      table.remove(child.id);
    }
  };
  return {
    path: "regions",
    one: "region",
    many: "regions",
    open: true,
    seeded: (c) => [
      {
        id: source.region,
        description: "",
        parent_region_id: null,
        links: { self: `${baseOf(c)}/regions/${source.region}` },
      },
    ],
    idOf: (given) => textAt(given, "id"),
    release(id) {
      if (isUsed(id)) {
        const why = "because it or its child regions have associated endpoints.";
        throw identityError(403, `Unable to delete region ${id} ${why}`);
      }
      removeBelow(id);
    },
    make: (given) => ({
      ...given,
      description: textAt(given, "description") ?? "",
      parent_region_id: parentOf(given),
    }),
  };
}

const policies: PlainKind = {
  path: "policies",
  one: "policy",
  many: "policies",
  make: (given) => ({ ...given, type: required(given, "type"), blob: required(given, "blob") }),
};

/** Mappings of another identity provider's users: stored and returned; no user comes from one. */
const mappings: PlainKind = {
  path: "OS-FEDERATION/mappings",
  one: "mapping",
  many: "mappings",
  chosen: true,
  duplicate: "Conflict occurred attempting to store mapping - Duplicate entry.",
  make: (given) => ({ rules: rulesOf(given) }),
  check: (given) => ({ rules: rulesOf(given) }),
};

function rulesOf({ rules }: JsonObject): unknown {
  if (rules === undefined) throw schemaError("'rules' is a required property\n");
  if (Array.isArray(rules) && rules.length === 0) throw schemaError("[] is too short\n");
  return rules;
}

const consumers: PlainKind = {
  path: "OS-OAUTH1/consumers",
  one: "consumer",
  many: "consumers",
  once: ["secret"],
  make: (given) => ({ ...given, description: given["description"] ?? null, secret: randomBytes(16).toString("hex") }),
};

const credentials: PlainKind = {
  path: "credentials",
  one: "credential",
  many: "credentials",
  make: (given) => ({
    ...given,
    type: required(given, "type"),
    blob: required(given, "blob"),
    user_id: required(given, "user_id"),
    project_id: given["project_id"] ?? null,
  }),
};

const groups: PlainKind = {
  path: "OS-EP-FILTER/endpoint_groups",
  one: "endpoint_group",
  many: "endpoint_groups",
  make: (given) => ({ ...given, name: required(given, "name"), description: textAt(given, "description") ?? null }),
};
