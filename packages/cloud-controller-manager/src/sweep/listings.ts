import type { Clock } from "@causeway/foundation";
import type { Cloud } from "@causeway/openstack";
import { readProject, type Project } from "./gather.ts";

/** Whose project is listed, and how old the listing may be. */
export interface ListingOf {
  readonly cloud: Cloud;
  /** The cloud and its region: with the project's ID, the same for all credentials of one project. */
  readonly place: string;
  /** Ms since epoch: what was changed before then is to be in it. */
  readonly notBefore: number;
}

/** Listings that sweeps of many clusters share. */
export interface ProjectListings {
  read(of: ListingOf, signal: AbortSignal): Promise<Project>;
}

/** Milliseconds for which a listing is used, and kept. */
const FRESH = 60_000;

/**
 * Lists a project once a minute, however many of its clusters are swept. `signal` ends the lists and their time limits:
 * one that several wait for must not be that of one of them.
 */
export function createProjectListings(clock: Clock, signal: AbortSignal): ProjectListings {
  const known = new Map<string, { readonly begun: number; readonly listing: Promise<Project> }>();
  return {
    async read({ cloud, place, notBefore }, stop) {
      const id = `${place} ${await cloud.projectId({ signal: stop })}`;
      const found = known.get(id);
      if (found !== undefined && found.begun >= notBefore && clock.now() - found.begun < FRESH) return found.listing;
      const entry = { begun: clock.now(), listing: readProject(cloud, signal) };
      known.set(id, entry);
      const forget = (): void => {
        if (known.get(id) === entry) known.delete(id);
      };
      void entry.listing.then(() => clock.sleep(FRESH, signal)).then(forget, forget);
      return entry.listing;
    },
  };
}
