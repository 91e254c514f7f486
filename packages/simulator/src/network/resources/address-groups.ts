import { parseCidr } from "../rules/addresses.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { common, list, shown } from "../kit/attributes.ts";
import { owned, readBody, type Collection, type NetworkApp } from "../kit/collection.ts";
import { addressGroupNotFound, conflict, invalidValue, neutronError } from "../errors.ts";
import { dropPolicies, opened } from "./rbac.ts";
import { born, defined, touched, type AddressGroup, type NetworkState } from "../model.ts";

const attributes = { ...common, addresses: { read: cidrs, put: false, filter: false } } as const;
type Attributes = typeof attributes;

/** Address groups: lists of CIDRs that rules of security groups refer to. */
export function addressGroupCollection(state: NetworkState): Collection<AddressGroup, Attributes> {
  return {
    singular: "address_group",
    plural: "address_groups",
    attributes,
    table: state.addressGroups,
    indexes: ["name", "project_id"],
    filters: [],
    notFound: addressGroupNotFound,
    sees: (caller, row) => caller.isAdmin || row.project_id === caller.projectId || opened(state, caller, row.id),
    view: groupView,
    create: (_, projectId, input) =>
      state.addressGroups.insert({ ...born(state.kernel, projectId, input), addresses: input.addresses ?? [] }),
    update: (_, row, change) => {
      const { project_id: _p, addresses: _a, ...rest } = defined(change);
      return state.addressGroups.update(row.id, { ...rest, ...touched(state.kernel, row) });
    },
    remove: (_, row) => {
      if (state.rules.all().some((rule) => rule.remote_address_group_id === row.id)) {
        const why = `Address group ${row.id} is in use on one or more security group rules.`;
        throw conflict("AddressGroupInUse", why);
      }
      dropPolicies(state, row.id);
      state.addressGroups.remove(row.id);
    },
  };
}

/** PUT /address-groups/ID/add_addresses and remove_addresses. */
export function mountAddresses(
  app: NetworkApp,
  state: NetworkState,
  groups: ReturnType<typeof addressGroupCollection>,
): void {
  const change = (verb: string, next: (row: AddressGroup, asked: readonly string[]) => readonly string[]) =>
    app.put(`/v2.0/address-groups/:id/${verb}`, async (c) => {
      const asked = cidrs((await readBody(c))["addresses"], "addresses");
      const row = owned(groups, c.var.caller, { id: c.req.param("id") });
      const addresses = next(row, asked);
      const made = state.kernel.atomic(() =>
        state.addressGroups.update(row.id, { addresses, ...touched(state.kernel, row) }),
      );
      return c.json({ address_group: groupView(made) });
    });
  change("add_addresses", (row, asked) => {
    const twice = asked.filter((cidr) => row.addresses.includes(cidr));
    if (twice.length > 0) {
      const why = `Addresses ${shown(twice)} already exist in the address group ${row.id}.`;
      throw neutronError(400, "AddressesAlreadyExist", why);
    }
    return [...row.addresses, ...asked];
  });
  change("remove_addresses", (row, asked) => {
    const missing = asked.filter((cidr) => !row.addresses.includes(cidr));
    if (missing.length > 0) {
      const why = `Addresses ${shown(missing)} not found in the address group ${row.id}.`;
      throw neutronError(404, "AddressesNotFound", why);
    }
    return row.addresses.filter((cidr) => !asked.includes(cidr));
  });
}

function groupView(row: AddressGroup): JsonObject {
  const { tags: _, ...wire } = row;
  return { ...wire, tenant_id: row.project_id, shared: false };
}

function cidrs(value: unknown, field: string): readonly string[] {
  return list(value ?? [], field).map((cidr) => {
    if (typeof cidr !== "string" || !parseCidr(cidr)) {
      throw invalidValue(field, `'${shown(cidr)}' is not a valid CIDR.`);
    }
    return cidr;
  });
}
