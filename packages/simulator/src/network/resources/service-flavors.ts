import { textAt, type JsonObject } from "../../kernel/json.ts";
import { bool, text, type InputOf } from "../kit/attributes.ts";
import { readBody, seen, type Collection, type NetworkApp } from "../kit/collection.ts";
import { conflict, forbidden, neutronError, resourceMissing } from "../errors.ts";
import { defined, type NetworkState, type ServiceFlavor, type ServiceProfile } from "../model.ts";

const flavorAttributes = {
  name: { read: text },
  description: { read: text },
  service_type: { read: text, required: true, put: false },
  enabled: { read: bool },
} as const;

const profileAttributes = {
  description: { read: text },
  driver: { read: text },
  metainfo: { read: text, filter: false },
  enabled: { read: bool },
} as const;

/** Of the services that a cloud of OVN has. */
const serviceTypes: ReadonlySet<string> = new Set(["L3_ROUTER_NAT", "FLAVORS"]);

/** Flavors of services belong to no project, and are returned without the fields that other resources have. */
const unowned = { project_id: "", revision_number: 0 };

/**
 * Kinds of service that projects may choose from:
 * https://docs.openstack.org/api-ref/network/v2/#networking-flavors-framework-v2-0-current-flavor-service-profile .
 */
export function serviceFlavorCollection(state: NetworkState): Collection<ServiceFlavor, typeof flavorAttributes> {
  return {
    singular: "flavor",
    plural: "flavors",
    attributes: flavorAttributes,
    table: state.serviceFlavors,
    indexes: ["name"],
    filters: [],
    notFound: (id) => neutronError(404, "FlavorNotFound", `Flavor ${id} could not be found.`),
    sees: () => true,
    owns: (caller) => caller.isAdmin,
    view: ({ id, name, description, service_type, enabled, profiles }): JsonObject => ({
      id,
      name,
      description,
      service_type,
      enabled,
      service_profiles: profiles,
    }),
    create: (caller, _, { name = "", description = "", service_type = "", enabled = true }) => {
      if (!caller.isAdmin) throw forbidden("rule:create_flavor");
      if (!serviceTypes.has(service_type)) {
        throw neutronError(400, "InvalidServiceType", `Invalid service type: ${service_type}.`);
      }
      const id = state.kernel.newId();
      return state.serviceFlavors.insert({ id, ...unowned, name, description, service_type, enabled, profiles: [] });
    },
    update: (_, row, change) => state.serviceFlavors.update(row.id, defined(change)),
    remove: (_, row) => {
      state.serviceFlavors.remove(row.id);
    },
  };
}

/** The service profiles of a flavor: for administrators only. */
export function serviceProfileCollection(state: NetworkState): Collection<ServiceProfile, typeof profileAttributes> {
  return {
    singular: "service_profile",
    plural: "service_profiles",
    path: "service_profiles",
    attributes: profileAttributes,
    table: state.serviceProfiles,
    indexes: [],
    filters: [],
    notFound: (id) => (state.serviceProfiles.get(id) ? resourceMissing() : profileNotFound(id)),
    sees: (caller) => caller.isAdmin,
    view: ({ id, description, driver, enabled, metainfo }) => ({ id, description, driver, enabled, metainfo }),
    create: (caller, _, input) => {
      if (!caller.isAdmin) throw forbidden("rule:create_service_profile");
      return state.serviceProfiles.insert(madeProfile(state.kernel.newId(), input));
    },
    update: (_, row, change) => state.serviceProfiles.update(row.id, defined(change)),
    remove: (_, row) => {
      if (state.serviceFlavors.all().some(({ profiles }) => profiles.includes(row.id))) {
        throw conflict("ServiceProfileInUse", `Service Profile ${row.id} is used by some service instance.`);
      }
      state.serviceProfiles.remove(row.id);
    },
  };
}

const profileNotFound = (id: string) =>
  neutronError(404, "ServiceProfileNotFound", `Service Profile ${id} could not be found.`);

function madeProfile(id: string, input: InputOf<typeof profileAttributes>): ServiceProfile {
  const { description = "", driver = "", metainfo = "", enabled = true } = input;
  if (driver === "" && metainfo === "") {
    throw neutronError(400, "ServiceProfileEmpty", "Service Profile needs either a driver or metainfo.");
  }
  return { id, ...unowned, description, driver, metainfo, enabled };
}

/** What binds profiles to flavors. */
export function mountProfileBindings(
  app: NetworkApp,
  state: NetworkState,
  flavors: ReturnType<typeof serviceFlavorCollection>,
): void {
  const path = "/v2.0/flavors/:flavor/service_profiles";
  app.post(path, async (c) => {
    const { service_profile: given } = await readBody(c);
    if (!c.var.caller.isAdmin) throw forbidden("rule:create_flavor_service_profile");
    const flavor = seen(flavors, c.var.caller, c.req.param("flavor"));
    const id = textAt(given, "id") ?? "";
    if (!state.serviceProfiles.get(id)) throw profileNotFound(id);
    if (flavor.profiles.includes(id)) {
      const why = `Service Profile ${id} is already associated with flavor ${flavor.id}.`;
      throw conflict("FlavorServiceProfileBindingExists", why);
    }
    state.kernel.atomic(() => state.serviceFlavors.update(flavor.id, { profiles: [...flavor.profiles, id] }));
    // The real service returns the flavor's id.
    return c.json({ service_profile: { id: flavor.id } }, 201);
  });
  app.delete(`${path}/:id`, (c) => {
    if (!c.var.caller.isAdmin) throw forbidden("rule:delete_flavor_service_profile");
    const [flavor, id] = [seen(flavors, c.var.caller, c.req.param("flavor")), c.req.param("id")];
    if (!flavor.profiles.includes(id)) {
      const why = `Service Profile ${id} is not associated with flavor ${flavor.id}.`;
      throw neutronError(404, "FlavorServiceProfileBindingNotFound", why);
    }
    const profiles = flavor.profiles.filter((one) => one !== id);
    state.kernel.atomic(() => state.serviceFlavors.update(flavor.id, { profiles }));
    return c.body(null, 204);
  });
}
