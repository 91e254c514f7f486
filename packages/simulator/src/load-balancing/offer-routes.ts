import type { Table } from "../kernel/interface.ts";
import type { JsonObject } from "../kernel/json.ts";
import { picked } from "../kernel/rest/listing.ts";
import { ordered } from "./listing.ts";
import { fault, noAction, notFound } from "./errors.ts";
import { bool, readCreate, readUpdate, text, unwrap, uuid, type Fields } from "./fields.ts";
import { checkProfileData, type Offer, type Offers, type Profile } from "./offers.ts";
import { checkProvider } from "./providers.ts";
import { driverOf } from "./drivers.ts";
import type { BalancerState } from "./resources.ts";
import { checkAdmin, readBody, show, type BalancerApp, type BalancerRequest } from "./routes.ts";

const root = "/:v{v2(?:\\.0)?}/lbaas";

/**
 * Routes of flavors or availability zones, of their profiles and of what providers take. Administrators write; members
 * choose.
 */
export function mountOffers(app: BalancerApp, state: BalancerState, of: Offers): void {
  mountProfiles(app, state, of);
  mountChoices(app, state, of);
  const { words } = of;
  const field = `${words.offer}_capabilities`;
  app.get(`${root}/providers/:provider/${field}`, (c) => {
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

interface Listed<T> {
  readonly plural: string;
  readonly links: string;
  readonly rows: readonly T[];
  readonly view: (row: T) => JsonObject;
}

/** A list of few: filtered by its fields, in one page. */
export function listed<T>(c: BalancerRequest, { plural, links, rows, view }: Listed<T>) {
  const query = new URL(c.req.url).searchParams;
  // Zones have names only. That an amphora's certificate is being changed is no filter.
  if (plural === "availability_zones" && query.has("id")) {
    throw fault(400, "One or more arguments are either duplicate or invalid");
  }
  const views = rows
    .map((row) => ({ view: view(row) }))
    .filter(({ view: row }) =>
      [...query].every(
        ([name, value]) =>
          name === "cert_busy" ||
          !Object.hasOwn(row, name) ||
          String(row[name] as string).toLowerCase() === value.toLowerCase(),
      ),
    );
  const fields = query.getAll("fields");
  return c.json({ [plural]: ordered(views, query).map((row) => picked(row.view, fields)), [links]: [] });
}

function mountProfiles(app: BalancerApp, { kernel }: BalancerState, { words, profiles, offers }: Offers): void {
  const path = `${root}/${words.profilesPath}`;
  const argument = `${words.profile}_`;
  const fields: Fields = {
    name: { read: text, required: true },
    provider_name: { read: text, required: true },
    [words.data]: { read: text, required: true },
  };
  const view = ({ data, ...row }: Profile): JsonObject => ({ ...row, [words.data]: data });
  const found = (c: BalancerRequest, label = words.profileLabel): Profile => {
    checkAdmin(c.var.caller);
    const row = profiles.get(c.req.param("id") ?? "");
    if (!row) throw notFound(label, c.req.param("id") ?? "");
    return row;
  };
  const refuseUsed = ({ id }: Profile) => {
    if (offers.by("profile_id", id).length > 0)
      throw fault(409, `${words.deletedLabel} ${id} is in use and cannot be modified.`);
  };
  app.get(path, (c) => {
    checkAdmin(c.var.caller);
    return listed(c, { plural: words.profiles, links: `${words.profile}_links`, rows: profiles.all(), view });
  });
  app.get(`${path}/:id`, (c) => show(c, words.profile, view(found(c))));
  app.post(path, async (c) => {
    checkAdmin(c.var.caller);
    const input = readCreate(
      fields,
      unwrap(await readBody(c), words.profile, argument),
      `${argument}.${words.profile}`,
    );
    const [provider_name, data] = [checkProvider(word(input["provider_name"], "")), word(input[words.data], "")];
    checkProfileData(words, provider_name, data);
    const row = profiles.insert({ id: kernel.newId(), name: word(input["name"], ""), provider_name, data });
    return c.json({ [words.profile]: view(row) }, 201);
  });
  app.put(`${path}/:id`, async (c) => {
    const row = found(c);
    const input = readUpdate(
      fields,
      unwrap(await readBody(c), words.profile, argument),
      `${argument}.${words.profile}`,
    );
    const provider_name = word(input["provider_name"], row.provider_name);
    const data = word(input[words.data], row.data);
    if (provider_name !== row.provider_name || data !== row.data) {
      refuseUsed(row);
      checkProfileData(words, checkProvider(provider_name), data);
    }
    const changed = profiles.update(row.id, { name: word(input["name"], row.name), provider_name, data });
    return c.json({ [words.profile]: view(changed) });
  });
  app.delete(`${path}/:id`, (c) => {
    const row = found(c, words.deletedLabel);
    refuseUsed(row);
    profiles.remove(row.id);
    return c.body(null, 204);
  });
}

function mountChoices(app: BalancerApp, state: BalancerState, { words, profiles, offers }: Offers): void {
  const path = `${root}/${words.offersPath}`;
  const argument = `${words.offer}_`;
  const fields: Fields = {
    name: { read: text, required: true, ...(words.byName ? { put: false as const } : {}) },
    description: { read: text },
    enabled: { read: bool },
    [words.profileId]: { read: uuid, required: true, put: false },
  };
  const view = ({ id, name, profile_id, description, enabled }: Offer): JsonObject => ({
    ...(words.byName ? {} : { id }),
    name,
    description: description ?? (words.byName ? "" : null),
    enabled,
    [words.profileId]: profile_id,
  });
  const found = (c: BalancerRequest): Offer => {
    const row = offers.get(c.req.param("id") ?? "");
    if (!row) throw notFound(words.offerLabel, c.req.param("id") ?? "");
    return row;
  };
  const write = (c: BalancerRequest): Offer => {
    checkAdmin(c.var.caller);
    return found(c);
  };
  app.get(path, (c) => listed(c, { plural: words.offers, links: `${words.offers}_links`, rows: offers.all(), view }));
  app.get(`${path}/:id`, (c) => show(c, words.offer, view(found(c))));
  app.post(path, async (c) => {
    checkAdmin(c.var.caller);
    const input = readCreate(fields, unwrap(await readBody(c), words.offer, argument), `${argument}.${words.offer}`);
    const [name, profile_id] = [word(input["name"], ""), word(input[words.profileId], "")];
    refuseTaken(offers, name, words.called);
    // The real service fails at its database, with 500; what is meant is that there is no such profile.
    if (!profiles.get(profile_id)) throw notFound(words.profileLabel, profile_id);
    const row = offers.insert({
      id: words.byName ? name : state.kernel.newId(),
      name,
      description: word(input["description"], null),
      enabled: input["enabled"] !== false,
      profile_id,
    });
    return c.json({ [words.offer]: view(row) }, 201);
  });
  app.put(`${path}/:id`, async (c) => {
    const row = write(c);
    const input = readUpdate(fields, unwrap(await readBody(c), words.offer, argument), `${argument}.${words.offer}`);
    const name = word(input["name"], row.name);
    if (name !== row.name) refuseTaken(offers, name, words.called);
    const description = word(input["description"], row.description);
    const enabled = input["enabled"] === undefined ? row.enabled : input["enabled"] === true;
    return c.json({ [words.offer]: view(offers.update(row.id, { name, description, enabled })) });
  });
  app.delete(`${path}/:id`, (c) => {
    const { id } = write(c);
    const field = words.byName ? "availability_zone" : "flavor_id";
    if (state.loadBalancers.all().some((balancer) => balancer[field] === id)) {
      throw fault(409, `${words.offerLabel} ${id} is in use and cannot be modified.`);
    }
    offers.remove(id);
    return c.body(null, 204);
  });
}

function refuseTaken(offers: Table<Offer>, name: string, called: string): void {
  if (offers.by("name", name).length > 0) throw fault(409, `A ${called} of ${name} already exists.`);
}
