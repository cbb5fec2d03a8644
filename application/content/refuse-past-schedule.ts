import { type CommandContext, timestamp } from '../../domain/context.ts';
import { invalidField } from '../../domain/errors.ts';

/** @throws `validation_failed` for a schedule in the past; null means no schedule */
export function refusePastSchedule(scheduledAt: string | null, context: CommandContext): void {
  if (scheduledAt !== null && scheduledAt <= timestamp(context))
    throw invalidField('scheduled_at', 'must be in the future');
}
