import { expect } from "vitest";
import type { Chapter, Json } from "../interface.ts";
import { at, configMap } from "./say.ts";

/** What programs of others were seen to rely on. */
export const programs: Chapter = {
  title: "what programs rely on",
  cases: [
    {
      name: "an apply patch may leave out metadata, and is about what the path names",
      async run({ api, core }) {
        await api.post(core("configmaps"), configMap("a", { data: { x: "1" } }));
        const body: Json = { apiVersion: "v1", kind: "ConfigMap", data: { y: "2" } };
        const { code, body: object } = await api.patch(`${core("configmaps", "a")}?fieldManager=one`, "apply", body);
        expect(code).toBe(200);
        expect(object["data"]).toEqual({ x: "1", y: "2" });
        expect(at(object, "metadata", "name")).toBe("a");
      },
    },
  ],
};
