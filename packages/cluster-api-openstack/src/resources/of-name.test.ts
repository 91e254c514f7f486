import type { Router } from "@causeway/openstack";
import { expect, it, vi } from "vitest";
import { ofName } from "./of-name.ts";

it("an index finds the same as a list does, in the order of IDs, and reads no list", () => {
  const routers = ["2 a", "3 b", "1 a"].map((text) => {
    const [id, name] = text.split(" ");
    return { id, name } as Router;
  });
  const find = vi.fn((wanted: string) => routers.filter(({ name }) => name === wanted));
  for (const wanted of ["a", "b", "none"])
    expect(ofName({ routers: [], nameIndex: { routers: find } }, "routers", wanted)).toEqual(
      ofName({ routers }, "routers", wanted),
    );
  expect(ofName({ routers }, "routers", "a")).toEqual([routers[2], routers[0]]);
  expect(find).toHaveBeenCalledTimes(3);
});
