import type { Table } from "../../kernel/interface.ts";
import { at, bodyOf, isObject, type JsonObject } from "../../kernel/json.ts";
import { identityError, schemaError } from "../model.ts";
import { requireAdmin, type IdentityApp, type IdentityContext, type IdentityParts } from "../kit/request.ts";

interface Configuration {
  /** The domain's. */
  readonly id: string;
  readonly config: Readonly<Record<string, JsonObject>>;
}

/** What a domain's options are when it sets none; some of Keystone's. */
const defaults: Configuration["config"] = {
  identity: { driver: "sql", list_limit: null },
  ldap: { url: "ldap://localhost", user: null, suffix: "cn=example,cn=com", query_scope: "one", page_size: 0 },
};

/** Options of domains: they are stored and returned, and have no effect. */
export function mountDomainConfiguration(app: IdentityApp, { kernel, tables }: IdentityParts): void {
  const table: Table<Configuration> = kernel.table("_domain_configuration");
  for (const [path, depth] of [
    ["", 0],
    ["/:group", 1],
    ["/:group/:option", 2],
  ] as const) {
    app.get(`/v3/domains/config${path}/default`, (c) => {
      requireAdmin(c, "get_domain_config_default");
      return c.json({ config: part(c, defaults, depth) });
    });
    const own = `/v3/domains/:domain/config${path}`;
    const domain = (c: IdentityContext): string => {
      const id = c.req.param("domain") ?? "";
      if (!tables.domains.get(id)) throw identityError(404, `Could not find domain: ${id}.`);
      return id;
    };
    const configOf = (c: IdentityContext) => table.get(domain(c))?.config ?? {};
    const keep = (id: string, config: Configuration["config"]) =>
      table.get(id) ? table.update(id, { config }) : table.insert({ id, config });
    app.get(own, (c) => {
      requireAdmin(c, "get_domain_config");
      return c.json({ config: part(c, configOf(c), depth) });
    });
    app.delete(own, (c) => {
      requireAdmin(c, "delete_domain_config");
      part(c, configOf(c), depth);
      keep(domain(c), without(configOf(c), c, depth));
      return c.body(null, 204);
    });
    const write = (replace: boolean) => async (c: IdentityContext) => {
      requireAdmin(c, replace ? "create_domain_config" : "update_domain_config");
      const given = at(await bodyOf(c.req), "config");
      if (!isObject(given)) throw schemaError("'config' is a required property");
      const id = domain(c);
      if (!replace) part(c, configOf(c), depth);
      const wrapped = depth === 2 ? { [c.req.param("group") ?? ""]: given } : given;
      const isNew = table.get(id) === undefined;
      const kept = keep(id, replace ? (wrapped as Configuration["config"]) : merged(configOf(c), wrapped));
      return c.json({ config: kept.config }, replace && isNew ? 201 : 200);
    };
    if (depth === 0) app.put(own, write(true));
    app.patch(own, write(false));
  }
}

/** All of it, one group, or one option of a group. Throws 404. */
function part(c: IdentityContext, config: Configuration["config"], depth: 0 | 1 | 2): unknown {
  const [group, option] = [c.req.param("group") ?? "", c.req.param("option") ?? ""];
  const none = (what: string) => identityError(404, `Could not find ${what} for domain configuration.`);
  if (depth === 0) {
    if (Object.keys(config).length === 0) throw none("any options");
    return config;
  }
  const options = config[group];
  if (!options) throw none(`group ${group}`);
  if (depth === 1) return { [group]: options };
  if (!(option in options)) throw none(`option ${option} in group ${group}`);
  return { [option]: options[option] };
}

function without(config: Configuration["config"], c: IdentityContext, depth: 0 | 1 | 2): Configuration["config"] {
  if (depth === 0) return {};
  const [group, option] = [c.req.param("group") ?? "", c.req.param("option") ?? ""];
  const { [group]: options = {}, ...others } = config;
  if (depth === 1) return others;
  const { [option]: _, ...left } = options;
  return { ...others, [group]: left };
}

function merged(config: Configuration["config"], given: JsonObject): Configuration["config"] {
  const groups = Object.entries(given).map(
    ([group, options]) => [group, { ...config[group], ...(isObject(options) ? options : {}) }] as const,
  );
  return { ...config, ...Object.fromEntries(groups) };
}
