"""Reads notifications (one JSON object a line) as a consumer made of pycadf does.

Each payload is made an Event of pycadf, whose descriptors refuse values that are not CADF's. For each line one is
printed: what a consumer acts on, or why the event was refused. What pycadf would write again has to be what was read.
"""
import datetime
import json
import sys

from pycadf import attachment, cadftaxonomy, event, reason, resource

# What the initiator of Magnum's notifications has in addition to a resource of CADF.
MORE = ("user_id", "project_id", "domain_id")


def resource_of(value):
    made = resource.Resource(id=value["id"], typeURI=value["typeURI"], name=value.get("name"))
    for key in MORE:
        if key in value:
            setattr(made, key, value[key])
    for each in value.get("attachments", []):
        made.add_attachment(attachment.Attachment(**each))
    return made


def event_of(payload):
    why = payload.get("reason")
    made = event.Event(
        eventType=payload["eventType"],
        id=payload["id"],
        eventTime=payload["eventTime"],
        action=payload["action"],
        outcome=payload["outcome"],
        initiator=resource_of(payload["initiator"]),
        target=resource_of(payload["target"]),
        observer=resource_of(payload["observer"]),
        reason=reason.Reason(**why) if why else None,
    )
    if not made.is_valid():
        raise ValueError("pycadf says that the event is not valid")
    if made.outcome not in cadftaxonomy.OUTCOME_TAXONOMY or made.action not in cadftaxonomy.ACTION_TAXONOMY:
        raise ValueError("action or outcome is not of CADF's taxonomy")
    # pycadf takes any text.
    datetime.datetime.strptime(made.eventTime, "%Y-%m-%dT%H:%M:%S.%f%z")
    return made


def written(made):
    return json.loads(json.dumps(made.as_dict(), default=vars))


def main():
    for line in sys.stdin:
        notification = json.loads(line)
        payload = notification["payload"]
        try:
            made = event_of(payload)
            again = written(made)
            if again != payload:
                different = sorted(key for key in {*again, *payload} if again.get(key) != payload.get(key))
                raise ValueError(f"pycadf writes {', '.join(different)} in another way")
            print(notification["event_type"], made.action, made.outcome, made.target.id)
        except Exception as error:
            print("refused:", error)


main()
