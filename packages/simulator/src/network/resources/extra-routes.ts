import type { Caller } from "../../kernel/interface.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { object, routes } from "../kit/attributes.ts";
import { owned, readBody, type NetworkApp } from "../kit/collection.ts";
import { touched, type NetworkState, type Route, type Router } from "../model.ts";
import { checkRoutes, routerView, type routerCollection } from "./routers.ts";

/** PUT /routers/ID/add_extraroutes and remove_extraroutes: routes that are not named do not change. */
export function mountExtraRoutes(
  app: NetworkApp,
  state: NetworkState,
  routers: ReturnType<typeof routerCollection>,
): void {
  const verbs = { add_extraroutes: add, remove_extraroutes: remove };
  for (const [verb, make] of Object.entries(verbs)) {
    app.put(`/v2.0/routers/:id/${verb}`, async (c) => {
      const asked = object((await readBody(c))["router"], "router");
      const router = owned(routers, c.var.caller, { id: c.req.param("id") });
      const change = () =>
        set(state, { router, caller: c.var.caller }, make(router.routes, routes(asked["routes"], "routes")));
      return c.json(state.kernel.atomic(change));
    });
  }
}

function set(
  state: NetworkState,
  { router, caller }: { readonly router: Router; readonly caller: Caller },
  wanted: readonly Route[],
): JsonObject {
  checkRoutes(state, router, wanted);
  const now = state.routers.update(router.id, { routes: wanted, ...touched(state.kernel, router) });
  // An action's response is not reduced to what a plain user may read.
  return { router: routerView(now, { ...caller, isAdmin: true }) };
}

function add(before: readonly Route[], asked: readonly Route[]): readonly Route[] {
  return [...before, ...asked.filter((route) => !includes(before, route))];
}

function remove(before: readonly Route[], asked: readonly Route[]): readonly Route[] {
  return before.filter((route) => !includes(asked, route));
}

function includes(among: readonly Route[], { destination, nexthop }: Route): boolean {
  return among.some((route) => route.destination === destination && route.nexthop === nexthop);
}
