import { htmlError } from "../compute/model.ts";
import type { Kernel, Service } from "../kernel/interface.ts";
import { bodyOf, textAt } from "../kernel/json.ts";
import { imageFor, ownImage, type ImageMember, type ImageTables } from "./model.ts";

const path = "/v2/images/:id/members";
const schema = "/v2/schemas/member";

/** The projects that a shared image is shared with. */
export function addImageMemberRoutes(app: Service["app"], kernel: Kernel, tables: ImageTables): void {
  const { members } = tables;
  const view = ({ id: _id, ...member }: ImageMember) => ({ ...member, schema });
  const found = (image: string, project: string): ImageMember => {
    const member = members.get(`${image}/${project}`);
    if (!member) throw htmlError(404, "Not Found", `${project} not found in the member list of the image ${image}.`);
    return member;
  };
  app.get(path, (c) => {
    const image = imageFor(tables, c.get("caller"), c.req.param("id"));
    const { projectId } = c.get("caller");
    const all = members.by("image_id", image.id);
    const shown = image.owner === projectId ? all : all.filter((m) => m.member_id === projectId);
    return c.json({ members: shown.map(view), schema: "/v2/schemas/members" });
  });
  app.post(path, async (c) => {
    const image = ownImage(tables, c.get("caller"), c.req.param("id"));
    const member = textAt(await bodyOf(c.req), "member");
    if (member === undefined || member === "") throw htmlError(400, "Bad Request", "Member can't be empty");
    if (image.visibility !== "shared") {
      throw htmlError(403, "Forbidden", "Only shared images have members.");
    }
    const id = `${image.id}/${member}`;
    if (members.get(id)) {
      throw htmlError(409, "Conflict", `Image member ${member} already exists for image ${image.id}`);
    }
    const now = kernel.timestamp();
    const made = { id, image_id: image.id, member_id: member, status: "pending", created_at: now, updated_at: now };
    return c.json(view(members.insert(made)));
  });
  app.get(`${path}/:member`, (c) => {
    const image = imageFor(tables, c.get("caller"), c.req.param("id"));
    return c.json(view(found(image.id, c.req.param("member"))));
  });
  app.put(`${path}/:member`, async (c) => {
    const image = imageFor(tables, c.get("caller"), c.req.param("id"));
    const member = found(image.id, c.req.param("member"));
    const status = textAt(await bodyOf(c.req), "status") ?? "";
    if (member.member_id !== c.get("caller").projectId && !c.get("caller").isAdmin) {
      throw htmlError(403, "Forbidden", "You are not permitted to modify 'status' on this image member.");
    }
    if (!["pending", "accepted", "rejected"].includes(status)) {
      throw htmlError(400, "Bad Request", `Status must be "pending", "accepted" or "rejected".`);
    }
    return c.json(view(members.update(member.id, { status, updated_at: kernel.timestamp() })));
  });
  app.delete(`${path}/:member`, (c) => {
    const image = ownImage(tables, c.get("caller"), c.req.param("id"));
    members.remove(found(image.id, c.req.param("member")).id);
    return c.body(null, 204);
  });
}
