import type { Table } from "../../kernel/interface.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { picked } from "../../kernel/rest/listing.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { ordered } from "../listing.ts";
import { fault, noAction, notFound } from "../errors.ts";
import { bool, text, uuid, type Fields } from "../kit/fields.ts";
import { checkProfileData, type FlavorOrZone, type FlavorsAndZones, type Profile } from "../rules/flavors-and-zones.ts";
import { checkProvider } from "../rules/providers.ts";
import { driverOf } from "../rules/drivers.ts";
import type { BalancerState } from "../model.ts";
import {
  checkAdmin,
  idOf,
  octavia,
  ROOT,
  shownFields,
  type BalancerApp,
  type BalancerEnv,
  type BalancerRequest,
} from "../kit/routes.ts";

/**
 * Routes of flavors or availability zones, of their profiles and of what providers take. Administrators write; members
 * choose.
 */
export function mountFlavorsAndZones(app: BalancerApp, state: BalancerState, of: FlavorsAndZones): void {
  mountProfiles(app, state, of);
  mountChoices(app, state, of);
  const { words } = of;
  const field = `${words.offer}_capabilities`;
  app.get(`${ROOT}/providers/:provider/${field}`, (c) => {
    checkAdmin(c.var.caller);
    const provider = checkProvider(c.req.param("provider"));
    if (driverOf(provider) === "ovn") {
      const why = `This provider does not support getting the supported ${words.called} metadata.`;
      throw noAction(provider, why);
    }
    const query = new URL(c.req.url).searchParams;
    const [fields, named, described] = [query.getAll("fields"), query.get("name"), query.get("description")];
    const all = Object.entries(words.capabilities)
      .map(([name, description]) => ({ name, description }))
      .filter(({ name }) => named === null || name === named)
      .filter(({ description }) => described === null || description === described);
    return c.json({ [field]: all.map((capability) => picked(capability, fields)) });
  });
}

/** A text that a field has read, or what holds without it. */
const word = <T extends string | null>(value: unknown, otherwise: T): string | T =>
  typeof value === "string" ? value : otherwise;

/** A list of few: filtered by its fields, in one page. `links`: the member for the links to other pages. */
export function listed(
  c: BalancerRequest,
  { plural, links }: { readonly plural: string; readonly links: string },
  views: readonly JsonObject[],
): Response {
  const query = new URL(c.req.url).searchParams;
  // Zones have names only. That an amphora's certificate is being changed is no filter.
  if (plural === "availability_zones" && query.has("id")) {
    throw fault(400, "One or more arguments are either duplicate or invalid");
  }
  const found = views
    .map((view) => ({ view }))
    .filter(({ view: row }) =>
      [...query].every(
        ([name, value]) =>
          name === "cert_busy" ||
          !Object.hasOwn(row, name) ||
          String(row[name] as string).toLowerCase() === value.toLowerCase(),
      ),
    );
  const fields = query.getAll("fields");
  return c.json({ [plural]: ordered(found, query).map((row) => picked(row.view, fields)), [links]: [] });
}

function mountProfiles(
  app: BalancerApp,
  { kernel }: BalancerState,
  { words, profiles, offers }: FlavorsAndZones,
): void {
  const fields: Fields = {
    name: { read: text, required: true },
    provider_name: { read: text, required: true },
    [words.data]: { read: text, required: true },
  };
  const refuseUsed = ({ id }: Profile) => {
    if (offers.by("profile_id", id).length > 0)
      throw fault(409, `${words.deletedLabel} ${id} is in use and cannot be modified.`);
  };
  mountResource<BalancerEnv, Profile>(app, kernel, {
    ...octavia({ singular: words.profile, plural: words.profiles, argument: `${words.profile}_`, fields }),
    path: `${ROOT}/${words.profilesPath}`,
    permit: (c) => checkAdmin(c.var.caller),
    find(c, verb) {
      const row = profiles.get(idOf(c));
      if (!row) throw notFound(verb === "delete" ? words.deletedLabel : words.profileLabel, idOf(c));
      return row;
    },
    list: () => ({ rows: profiles.all() }),
    respondList: (c, views) => listed(c, { plural: words.profiles, links: `${words.profile}_links` }, views),
    view: (c, { data, ...row }, verb) => shownFields(c, { ...row, [words.data]: data }, verb),
    create(_c, input) {
      const [provider_name, data] = [checkProvider(word(input["provider_name"], "")), word(input[words.data], "")];
      checkProfileData(words, provider_name, data);
      return profiles.insert({ id: kernel.newId(), name: word(input["name"], ""), provider_name, data });
    },
    update(_c, row, input) {
      const provider_name = word(input["provider_name"], row.provider_name);
      const data = word(input[words.data], row.data);
      if (provider_name !== row.provider_name || data !== row.data) {
        refuseUsed(row);
        checkProfileData(words, checkProvider(provider_name), data);
      }
      return profiles.update(row.id, { name: word(input["name"], row.name), provider_name, data });
    },
    remove(_c, row) {
      refuseUsed(row);
      profiles.remove(row.id);
    },
  });
}

function mountChoices(app: BalancerApp, state: BalancerState, { words, profiles, offers }: FlavorsAndZones): void {
  const fields: Fields = {
    name: { read: text, required: true, ...(words.byName ? { put: false as const } : {}) },
    description: { read: text },
    enabled: { read: bool },
    [words.profileId]: { read: uuid, required: true, put: false },
  };
  mountResource<BalancerEnv, FlavorOrZone>(app, state.kernel, {
    ...octavia({ singular: words.offer, plural: words.offers, argument: `${words.offer}_`, fields }),
    path: `${ROOT}/${words.offersPath}`,
    permit(c, verb) {
      if (verb !== "list" && verb !== "show") checkAdmin(c.var.caller);
    },
    find(c) {
      const row = offers.get(idOf(c));
      if (!row) throw notFound(words.offerLabel, idOf(c));
      return row;
    },
    list: () => ({ rows: offers.all() }),
    respondList: (c, views) => listed(c, { plural: words.offers, links: `${words.offers}_links` }, views),
    view(c, { id, name, profile_id, description, enabled }, verb) {
      const whole = {
        ...(words.byName ? {} : { id }),
        name,
        description: description ?? (words.byName ? "" : null),
        enabled,
        [words.profileId]: profile_id,
      };
      return shownFields(c, whole, verb);
    },
    create(_c, input) {
      const [name, profile_id] = [word(input["name"], ""), word(input[words.profileId], "")];
      refuseTaken(offers, name, words.called);
      // The real service fails at its database, with 500; what is meant is that there is no such profile.
      if (!profiles.get(profile_id)) throw notFound(words.profileLabel, profile_id);
      return offers.insert({
        id: words.byName ? name : state.kernel.newId(),
        name,
        description: word(input["description"], null),
        enabled: input["enabled"] !== false,
        profile_id,
      });
    },
    update(_c, row, input) {
      const name = word(input["name"], row.name);
      if (name !== row.name) refuseTaken(offers, name, words.called);
      const description = word(input["description"], row.description);
      const enabled = input["enabled"] === undefined ? row.enabled : input["enabled"] === true;
      return offers.update(row.id, { name, description, enabled });
    },
    remove(_c, { id }) {
      const field = words.byName ? "availability_zone" : "flavor_id";
      if (state.loadBalancers.all().some((balancer) => balancer[field] === id)) {
        throw fault(409, `${words.offerLabel} ${id} is in use and cannot be modified.`);
      }
      offers.remove(id);
    },
  });
}

function refuseTaken(offers: Table<FlavorOrZone>, name: string, called: string): void {
  if (offers.by("name", name).length > 0) throw fault(409, `A ${called} of ${name} already exists.`);
}
