/** Where a tenant's API server is. */
export interface Route {
  /** By it connections are counted and limited. */
  readonly tenant: string;
  readonly host: string;
  readonly port: number;
  /** No API server runs, as its owner requested: connections are refused without an attempt. Default: false. */
  readonly isHibernated?: boolean;
}

/** The routes of now, by server name in lower case. */
export interface Routes {
  find(serverName: string): Route | undefined;
  /** False until they are complete: no connection may be refused for a name that was not read yet. */
  readonly ready: boolean;
}

/** The first of several that finds one. */
export function joinRoutes(all: readonly Routes[]): Routes {
  return {
    find: (serverName) => {
      for (const routes of all) {
        const found = routes.find(serverName);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    get ready() {
      return all.every(({ ready }) => ready);
    },
  };
}
