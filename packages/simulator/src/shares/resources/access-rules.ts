import { pairsFit } from "../../kernel/pairs.ts";
import { computeError } from "../../compute/model.ts";
import { at, bodyOf, isObject } from "../../kernel/json.ts";
import { owned } from "../model.ts";
import type { AccessRule, ShareApp, ShareContext, ShareParts } from "../model.ts";
import { labelsOf } from "./metadata.ts";

/** In a list it is known whose rule it is. */
export function listedRule({ share_id, ...rule }: AccessRule): Omit<AccessRule, "share_id"> {
  void share_id;
  return rule;
}

const gone = () => computeError(404, "Resource could not be found.");

/**
 * Rules of access by themselves, from 2.45 on:
 * https://docs.openstack.org/api-ref/shared-file-system/#share-access-rules-since-api-v2-45 .
 */
export function mountRules(app: ShareApp, parts: ShareParts): void {
  const { rules, shares } = parts;
  const path = "/v2/share-access-rules";
  const found = (c: ShareContext, missing: typeof gone): AccessRule => {
    const rule = rules.get(c.req.param("id") ?? "");
    const share = rule && shares.get(rule.share_id);
    if (!rule || !share) throw missing();
    owned(c, share, missing);
    return rule;
  };
  app.get(path, (c) => {
    const id = c.req.query("share_id");
    if (id === undefined) throw computeError(400, "The field 'share_id' has to be specified.");
    owned(c, shares.get(id), () => computeError(400, `Share ${id} not found.`));
    const metadata = c.req.query("metadata") ?? "";
    const asked = rules.by("share_id", id).filter((rule) => pairsFit(rule.metadata, metadata));
    return c.json({ access_list: asked.map(listedRule) });
  });
  app.get(`${path}/:id`, (c) => {
    const missing = () => computeError(404, `Share access rule ${c.req.param("id")} not found.`);
    return c.json({ access: found(c, missing) });
  });
  app.put(`${path}/:id/metadata`, async (c) => {
    const given = at(await bodyOf(c.req), "metadata");
    if (!isObject(given)) {
      const why = "The server could not comply with the request since it is either malformed or otherwise incorrect.";
      throw computeError(400, why);
    }
    const { id, metadata } = found(c, gone);
    const more = labelsOrRefusal(given);
    rules.update(id, { metadata: { ...metadata, ...more } });
    return c.json({ metadata: more });
  });
  app.delete(`${path}/:id/metadata/:key`, (c) => {
    const { id, metadata } = found(c, gone);
    const { [c.req.param("key")]: removed, ...left } = metadata;
    if (removed === undefined) throw computeError(404, "Share access rule metadata does not exist.");
    rules.update(id, { metadata: left });
    return c.body(null, 200);
  });
}

/** Here the real service leaves out what is wrong. */
function labelsOrRefusal(given: unknown): Readonly<Record<string, string>> {
  try {
    return labelsOf(given);
  } catch {
    throw computeError(400, "Invalid metadata.");
  }
}
