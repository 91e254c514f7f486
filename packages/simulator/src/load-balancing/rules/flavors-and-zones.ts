import type { Kernel, Table } from "../../kernel/interface.ts";
import { isObject } from "../../kernel/json.ts";
import { fault, invalid, noAction, noOption } from "../errors.ts";
import { driverOf } from "./drivers.ts";

/** What an administrator offers as a flavor or a zone: the provider, and the options passed to it. */
export interface Profile {
  readonly id: string;
  readonly name: string;
  readonly provider_name: string;
  /** JSON. */
  readonly data: string;
}

/** A flavor, or an availability zone (whose id is its name). */
export interface FlavorOrZone {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly enabled: boolean;
  readonly profile_id: string;
}

/**
 * Flavors and availability zones differ by their words. https://docs.openstack.org/api-ref/load-balancer/v2/#flavors
 */
export interface FlavorOrZoneWords {
  readonly offer: string;
  readonly offers: string;
  readonly offersPath: string;
  readonly profile: string;
  readonly profiles: string;
  readonly profilesPath: string;
  readonly data: string;
  readonly profileId: string;
  readonly offerLabel: string;
  readonly profileLabel: string;
  /** As Octavia says of a profile that is in use or gone when it is deleted. */
  readonly deletedLabel: string;
  /** "flavor", "availability zone" */
  readonly called: string;
  /** Names are ids. */
  readonly byName: boolean;
  readonly capabilities: Readonly<Record<string, string>>;
}

/** Flavors with their profiles, or availability zones with theirs: the tables and the words. */
export interface FlavorsAndZones {
  readonly words: FlavorOrZoneWords;
  readonly profiles: Table<Profile>;
  readonly offers: Table<FlavorOrZone>;
}

/** The words of flavors, which are found by id. */
export const flavorWords: FlavorOrZoneWords = {
  offer: "flavor",
  offers: "flavors",
  offersPath: "flavors",
  profile: "flavorprofile",
  profiles: "flavorprofiles",
  profilesPath: "flavorprofiles",
  data: "flavor_data",
  profileId: "flavor_profile_id",
  offerLabel: "Flavor",
  profileLabel: "Flavor Profile",
  deletedLabel: "Flavor profile",
  called: "flavor",
  byName: false,
  capabilities: {
    loadbalancer_topology:
      "The load balancer topology. One of: SINGLE - One amphora per load balancer. ACTIVE_STANDBY - Two amphora per load balancer.",
    compute_flavor: "The compute driver flavor ID.",
    amp_image_tag: "The amphora image tag.",
  },
};

/** The words of availability zones, which are found by name. */
export const zoneWords: FlavorOrZoneWords = {
  offer: "availability_zone",
  offers: "availability_zones",
  offersPath: "availabilityzones",
  profile: "availability_zone_profile",
  profiles: "availability_zone_profiles",
  profilesPath: "availabilityzoneprofiles",
  data: "availability_zone_data",
  profileId: "availability_zone_profile_id",
  offerLabel: "Availability Zone",
  profileLabel: "Availability Zone Profile",
  deletedLabel: "Availability Zone Profile",
  called: "availability zone",
  byName: true,
  capabilities: {
    compute_zone: "The compute availability zone.",
    management_network: "The management network ID for the amphora.",
    valid_vip_networks:
      "List of network IDs that are allowed for VIP use. This overrides/replaces the list of allowed networks configured in `octavia.conf`.",
  },
};

/** The kernel's tables of flavors, or of availability zones. */
export function flavorsAndZonesOf(kernel: Kernel, words: FlavorOrZoneWords): FlavorsAndZones {
  return {
    words,
    profiles: kernel.table(`_lb_${words.profile}`, ["name"]),
    offers: kernel.table(`_lb_${words.offer}`, ["name", "profile_id"]),
  };
}

/** Data of a profile, as the provider takes it. Throws 400 and 501. */
export function checkProfileData(words: FlavorOrZoneWords, provider: string, data: string): void {
  let parsed: unknown;
  try {
    parsed = JSON.parse(data);
  } catch {
    throw fault(400, `${data} is not a valid option for ${words.data}`);
  }
  if (!isObject(parsed)) throw fault(400, `${data} is not a valid option for ${words.data}`);
  if (driverOf(provider) === "ovn") {
    const what = words.byName ? "availability zones" : "flavors";
    throw noAction("ovn", `This provider does not support validating ${what}.`);
  }
  const unknown = Object.keys(parsed).find((key) => !Object.hasOwn(words.capabilities, key));
  if (unknown === undefined) return;
  throw noOption(provider, `Additional properties are not allowed ('${unknown}' was unexpected)`);
}

/** The flavor or zone that a load balancer requests, with its provider. Throws Octavia's 400. */
export function chosenFlavorOrZone(
  { words, offers, profiles }: FlavorsAndZones,
  asked: string,
): { readonly offer: FlavorOrZone; readonly provider: string } {
  const offer = offers.get(asked);
  const provider = offer && profiles.get(offer.profile_id)?.provider_name;
  if (!offer || provider === undefined)
    throw invalid(words.byName ? "Invalid availability zone." : "Invalid flavor_id.");
  if (offer.enabled) return { offer, provider };
  throw fault(400, `The selected ${words.offer} is not allowed in this deployment: ${asked}`);
}
