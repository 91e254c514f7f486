import { htmlPage } from "../../kernel/html-page.ts";
import type { Kernel, Service } from "../../kernel/interface.ts";
import { bodyOf, textAt } from "../../kernel/json.ts";
import { imageFor, ownImage, type ImageMember, type ImageTables } from "../model.ts";

const path = "/v2/images/:id/members";
const schema = "/v2/schemas/member";

/** The projects that a shared image is shared with. */
export function mountImageMembers(app: Service["app"], kernel: Kernel, tables: ImageTables): void {
  const { members } = tables;
  const view = ({ id: _id, ...member }: ImageMember) => ({ ...member, schema });
  const found = (image: string, project: string): ImageMember => {
    const member = members.get(`${image}/${project}`);
    if (!member) throw htmlPage(404, { explanation: `${project} not found in the member list of the image ${image}.` });
    return member;
  };
  app.get(path, (c) => {
    const image = imageFor(tables, c.get("caller"), c.req.param("id"));
    const { projectId } = c.get("caller");
    if (image.visibility !== "shared") {
      const why = "Only shared images have members.";
      throw htmlPage(403, { explanation: `Not allowed to list members for image ${image.id}: ${why}` });
    }
    const all = members.by("image_id", image.id);
    const shown = image.owner === projectId ? all : all.filter((m) => m.member_id === projectId);
    return c.json({ members: shown.map(view), schema: "/v2/schemas/members" });
  });
  app.post(path, async (c) => {
    const image = ownImage(tables, c.get("caller"), c.req.param("id"));
    const member = textAt(await bodyOf(c.req), "member");
    if (member === undefined) throw htmlPage(400, { explanation: "Member to be added not specified" });
    if (member === "") throw htmlPage(400, { explanation: "Member can't be empty" });
    if (image.visibility !== "shared") {
      throw htmlPage(403, { explanation: `Not allowed to create members for image ${image.id}.` });
    }
    const id = `${image.id}/${member}`;
    if (members.get(id)) {
      throw htmlPage(409, { explanation: `Member ${member} is duplicated for image ${image.id}` });
    }
    const now = kernel.timestamp();
    const made = { id, image_id: image.id, member_id: member, status: "pending", created_at: now, updated_at: now };
    return c.json(view(members.insert(made)));
  });
  app.get(`${path}/:member`, (c) => {
    const image = imageFor(tables, c.get("caller"), c.req.param("id"));
    if (image.visibility !== "shared") throw htmlPage(404, { explanation: "Only shared images have members." });
    return c.json(view(found(image.id, c.req.param("member"))));
  });
  app.put(`${path}/:member`, async (c) => {
    const image = imageFor(tables, c.get("caller"), c.req.param("id"));
    const member = found(image.id, c.req.param("member"));
    const status = textAt(await bodyOf(c.req), "status");
    if (status === undefined) throw htmlPage(400, { explanation: "Status not specified" });
    if (member.member_id !== c.get("caller").projectId && !c.get("caller").isAdmin) {
      throw htmlPage(403, { explanation: `Not allowed to update members for image ${image.id}.` });
    }
    if (!["pending", "accepted", "rejected"].includes(status)) {
      throw htmlPage(400, { explanation: 'Incorrect request: Status must be "pending", "accepted" or "rejected".' });
    }
    return c.json(view(members.update(member.id, { status, updated_at: kernel.timestamp() })));
  });
  app.delete(`${path}/:member`, (c) => {
    const image = ownImage(tables, c.get("caller"), c.req.param("id"));
    members.remove(found(image.id, c.req.param("member")).id);
    return c.body(null, 204);
  });
}
