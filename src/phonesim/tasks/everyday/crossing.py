"""Which sources go with which acts: every task across apps there is.

A pair stands here because a person would ask for it. A template of two apps has 8 to 12 steps as
a rule; chains of three and four apps are the split `long`.
"""

from __future__ import annotations

from phonesim.tasks.everyday import everyday_sources as e
from phonesim.tasks.everyday import sources as s
from phonesim.tasks.everyday.acts import (
    AddWeatherThere,
    AskForIt,
    BookThere,
    CallPerson,
    CallThem,
    ChatPayIt,
    FollowThem,
    ListIt,
    MailIt,
    NoteIt,
    NoteThat,
    PayPerson,
    PayTheirBill,
    PayThem,
    PlanAtIt,
    PlanOnIt,
    PostIt,
    PutItAside,
    SayInChat,
    SendIt,
    TellChat,
    TellChatCorrected,
    TellGroup,
    TextIt,
    WakeAtIt,
    WatchThere,
    WriteThem,
)
from phonesim.tasks.everyday.parts import Act, Condition, Source, compose, compose_choice
from phonesim.tasks.template import Template

PAIRS: dict[type[Source], tuple[type[Act], ...]] = {
    s.MailedBill: (TellChat, NoteIt, SendIt, AskForIt, PutItAside),
    s.MailedCode: (TellChat, TextIt, NoteIt, TellGroup, ListIt),
    s.MailedTime: (WakeAtIt, PlanAtIt, TellChat, TextIt),
    s.EventTime: (WakeAtIt, TellChat, TellGroup, MailIt, TextIt),
    s.EventPlace: (TellChat, TextIt, TellGroup, NoteIt, MailIt),
    s.ContactPhone: (TellChat, NoteIt, MailIt, TellGroup),
    s.ContactMail: (TellChat, NoteIt, TextIt),
    s.ContactBirthday: (TellChat, NoteIt, ListIt, MailIt),
    s.NotedCode: (TellChat, TextIt, MailIt, TellGroup),
    s.TextedPlace: (TellChat, NoteIt, MailIt, TellGroup),
    s.TextedAmount: (SendIt, NoteIt, PutItAside, TellChat),
    s.MissedCaller: (WriteThem, FollowThem, PayThem, NoteIt, TellChat),
    s.PlaceAddress: (TellChat, TellGroup, NoteIt, TextIt, MailIt),
    s.PlacePhone: (TellChat, NoteIt, TextIt),
    s.ForecastHigh: (TellChat, NoteIt, TextIt, TellGroup),
    e.BillAmount: (TellChat, NoteIt, TextIt, MailIt, ChatPayIt),
    e.BillReference: (NoteIt, MailIt, TellChat, TextIt),
    e.BillDue: (PlanOnIt, TellChat, ListIt, NoteIt),
    e.LastPayment: (TellChat, NoteIt, TextIt, MailIt),
    e.TicketCode: (TellChat, NoteIt, TextIt, MailIt),
    e.TripCode: (TellChat, NoteIt, MailIt, TextIt),
    e.TripSeat: (TellChat, NoteIt, TextIt),
    e.TripDeparture: (WakeAtIt, TellChat, TextIt, MailIt, TellGroup),
    e.TripDay: (PlanOnIt, TellChat, NoteIt, PostIt),
    e.CheapestFare: (TellChat, NoteIt, TextIt, PutItAside),
    e.ChatPlace: (NoteIt, TextIt, MailIt, ListIt),
    e.ChatTime: (WakeAtIt, PlanAtIt, TextIt),
    e.ChatDebt: (SendIt, NoteIt, PutItAside, AskForIt),
    e.ChatCity: (BookThere, AddWeatherThere, NoteIt, WatchThere),
    e.GroupSize: (NoteIt, MailIt, TextIt),
    e.PostLikes: (TellChat, NoteIt, TextIt),
    e.PostAuthor: (WriteThem, PayThem, TellChat, CallThem),
    e.DishPrice: (TellChat, NoteIt, TextIt, TellGroup, AskForIt),
    e.OrderTotal: (AskForIt, TellChat, NoteIt, PutItAside),
    e.CheaperDish: (TellChat, NoteIt, TellGroup),
    e.BiggerBill: (TellChat, NoteIt),
    e.CheaperCity: (TellChat, NoteIt, AddWeatherThere),
}
HELD_OUT: frozenset[tuple[type[Source], type[Act]]] = frozenset(
    {
        (s.MailedCode, TellGroup), (s.EventPlace, MailIt), (s.NotedCode, TextIt),
        (s.PlaceAddress, ListIt), (e.BillDue, NoteIt), (e.TripCode, TextIt),
        (e.ChatPlace, ListIt), (e.PostLikes, TellChat), (e.DishPrice, TellGroup),
        (e.TicketCode, TextIt), (s.MissedCaller, FollowThem), (e.ChatTime, WakeAtIt),
    }
)  # fmt: skip
CHAINS: tuple[tuple[type[Source], tuple[type[Act], ...]], ...] = (
    (s.MailedTime, (WakeAtIt, TellChat)),
    (s.MailedTime, (PlanAtIt, TextIt)),
    (s.MailedBill, (SendIt, TellChat)),
    (s.MailedBill, (NoteIt, AskForIt)),
    (s.MailedCode, (NoteIt, TellChat)),
    (s.EventTime, (WakeAtIt, TellChat, TextIt)),
    (s.EventPlace, (NoteIt, TellChat)),
    (s.TextedPlace, (NoteIt, TellGroup)),
    (s.TextedAmount, (SendIt, NoteIt)),
    (s.PlaceAddress, (TellChat, TextIt)),
    (s.ContactPhone, (NoteIt, TellChat)),
    (s.NotedCode, (TellChat, TextIt)),
    (s.MissedCaller, (WriteThem, NoteIt)),
    (s.MissedCaller, (FollowThem, WriteThem)),
    (e.TripDeparture, (WakeAtIt, TellChat)),
    (e.TripDeparture, (WakeAtIt, NoteIt, TextIt)),
    (e.TripDay, (PlanOnIt, TellChat)),
    (e.BillDue, (PlanOnIt, TellChat)),
    (e.ChatCity, (BookThere, NoteIt)),
    (e.ChatCity, (WatchThere, AddWeatherThere)),
    (e.ChatTime, (WakeAtIt, NoteIt)),
    (e.ChatPlace, (TextIt, ListIt)),
    (e.PostAuthor, (WriteThem, CallThem)),
    (e.OrderTotal, (AskForIt, TellChat)),
    (e.DishPrice, (NoteIt, TellChat)),
    (e.BiggerBill, (PayTheirBill, TellChat)),
    (e.CheapestFare, (PutItAside, NoteIt)),
)
CORRECTED: tuple[type[Source], ...] = (
    s.MailedCode, s.EventTime, s.PlaceAddress, e.TripCode, e.BillAmount, e.DishPrice,
)  # fmt: skip
CHOICES: tuple[tuple[type[Condition], type[Act], type[Act]], ...] = (
    (s.Rains, SayInChat, CallPerson),
    (s.Rains, NoteThat, SayInChat),
    (s.Rains, CallPerson, NoteThat),
    (s.EventStartsEarly, SayInChat, CallPerson),
    (s.EventStartsEarly, NoteThat, SayInChat),
    (s.PlaceWellRated, SayInChat, NoteThat),
    (s.PlaceWellRated, CallPerson, SayInChat),
    (e.CanAfford, PayPerson, SayInChat),
    (e.CanAfford, CallPerson, NoteThat),
    (e.BillAbove, SayInChat, NoteThat),
    (e.BillAbove, CallPerson, SayInChat),
)

CROSSING_TEMPLATES: tuple[type[Template], ...] = (
    *(
        compose(source, act, held_out=(source, act) in HELD_OUT)
        for source, acts in PAIRS.items()
        for act in acts
    ),
    *(compose(source, *acts) for source, acts in CHAINS),
    *(compose(source, TellChatCorrected) for source in CORRECTED),
    *(compose_choice(*parts) for parts in CHOICES),
)
