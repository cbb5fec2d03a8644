import type { ConsoleSettingsEvent, ConsoleValue } from '../../../domain/platform/console-settings-events.ts';
import { consoleSettingsDecider } from '../../../domain/platform/console-settings.ts';
import { given } from '../../support/given.ts';

describe('the settings of the console', () => {
  const saved = (values: Readonly<Record<string, ConsoleValue>>): ConsoleSettingsEvent => ({
    type: 'ConsoleSettingsSaved',
    data: { values },
  });
  const save = (values: Readonly<Record<string, ConsoleValue>>) => ({ kind: 'save', values }) as const;
  const sealed = (c: string) => ({ $sealed: 1, k: 'k', n: 'n', c });

  it('store only the values that differ', () => {
    given(consoleSettingsDecider, [saved({ A: '1', B: '2' })])
      .when(save({ A: '1', B: '3', C: '4' }))
      .thenAppends([saved({ B: '3', C: '4' })]);
  });

  it('store every sealed secret, because sealed values cannot be compared', () => {
    given(consoleSettingsDecider, [saved({ S: sealed('a') })])
      .when(save({ S: sealed('a') }))
      .thenAppends([saved({ S: sealed('a') })]);
  });

  it('remove a value once', () => {
    given(consoleSettingsDecider, [saved({ A: '1' })])
      .when(save({ A: null, B: null }))
      .thenAppends([saved({ A: null })]);
    given(consoleSettingsDecider, [saved({ A: '1' }), saved({ A: null })])
      .when(save({ A: null }))
      .thenAppendsNothing();
  });
});
