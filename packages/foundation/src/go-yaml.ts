/** A tag of the `yaml` library, as far as it is read here. */
interface Tag {
  readonly tag: string;
  readonly format?: string;
  readonly test?: RegExp;
}

/**
 * The library's tags of YAML 1.1 as Kubernetes' reader (go-yaml) has them: times are texts, there are no numbers in
 * base 60, and a number begins with a digit: the library reads "e1000" as not a number.
 *
 * @example parse(text, { version: "1.1", customTags: goYamlTags });
 */
export function goYamlTags<T>(tags: readonly T[]): T[] {
  return tags
    .filter((tag) => !isTag(tag) || (!UNKNOWN.test(tag.tag) && tag.format !== "TIME"))
    .map((tag) => {
      if (!isTag(tag) || !tag.tag.endsWith(":float") || !tag.test) return tag;
      return { ...tag, test: new RegExp(`^(?=[-+]?\\.?[\\dinN])(?:${tag.test.source})`, tag.test.flags) };
    });
}

const UNKNOWN = /:(?:timestamp|omap|set|pairs|binary)$/;

function isTag(tag: unknown): tag is Tag {
  return typeof tag === "object" && tag !== null && "tag" in tag;
}
