import type { Violation } from '../../api/request';
import { shownName } from '../place';
import type { Draft } from './inputs';
import { draftOfMember, type Drafts, type Member } from './newDocument';
import { ValueInput } from './ValueInput';
import { violationsAt } from './violations';

interface Props {
  members: readonly Member[];
  drafts: Drafts;
  onDraft: (pointer: string, draft: Draft) => void;
  violations: readonly Violation[];
}

/** A field for each member of a type, and a group of fields for each object in it. */
export function NewDocumentFields({ members, drafts, onDraft, violations }: Props) {
  return (
    <>
      {members.map((member) => (
        <fieldset key={member.pointer} className="member">
          <legend>
            <bdi>{shownName(member.name)}</bdi>
            {!member.required && <span className="about"> optional</span>}
          </legend>
          {member.members ? (
            <NewDocumentFields members={member.members} drafts={drafts} onDraft={onDraft} violations={violations} />
          ) : (
            <ValueInput
              label={`Value of ${member.pointer}`}
              pointer={member.pointer}
              schema={member.schema}
              draft={draftOfMember(member, drafts)}
              onDraft={(draft) => onDraft(member.pointer, draft)}
              violations={violationsAt(violations, member.pointer)}
              optional={!member.required}
            />
          )}
        </fieldset>
      ))}
    </>
  );
}
