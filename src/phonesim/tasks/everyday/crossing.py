"""The combinations of sources, conditions, lookups and acts: the list of all cross-app templates.

A combination is listed because a person would ask for it. A template of two apps usually has 8 to
12 steps; chains of three and four apps are the split `long`.
"""

from __future__ import annotations

from phonesim.tasks.everyday import comparisons as c
from phonesim.tasks.everyday import conditions as k
from phonesim.tasks.everyday import everyday_sources as e
from phonesim.tasks.everyday import leisure_sources as n
from phonesim.tasks.everyday import lookups as h
from phonesim.tasks.everyday import sources as s
from phonesim.tasks.everyday.parts import Act, Condition, Source, compose, compose_choice
from phonesim.tasks.everyday.paying import (
    AskForIt,
    ChatPayIt,
    PayPerson,
    PayTheirBill,
    PayThem,
    PutItAside,
    SendIt,
)
from phonesim.tasks.everyday.planning import (
    AddWeatherThere,
    BookThere,
    BookTomorrow,
    PlanAtIt,
    PlanOnIt,
    WakeAtIt,
    WatchThere,
)
from phonesim.tasks.everyday.reaching import (
    CallPerson,
    CallThem,
    FollowThem,
    NoteThat,
    SayInChat,
    WriteThem,
)
from phonesim.tasks.everyday.telling import (
    ListIt,
    MailIt,
    NoteIt,
    PostIt,
    TellChat,
    TellChatCorrected,
    TellGroup,
    TextIt,
)
from phonesim.tasks.everyday.two_hops import Lookup, compose_two_hops
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
    s.MissedCaller: (WriteThem, PayThem, NoteIt, TellChat),
    s.PlaceAddress: (TellChat, TellGroup, NoteIt, TextIt, MailIt),
    s.PlacePhone: (TellChat, NoteIt, TextIt, MailIt),
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
    n.PostLikes: (TellChat, NoteIt, TextIt),
    n.PostAuthor: (WriteThem, PayThem, TellChat, CallThem),
    n.DishPrice: (TellChat, NoteIt, TextIt, TellGroup, AskForIt),
    n.OrderTotal: (AskForIt, TellChat, NoteIt, PutItAside),
    c.CheaperDish: (TellChat, NoteIt, TellGroup),
    c.BiggerBill: (TellChat, NoteIt),
    c.CheaperCity: (TellChat, NoteIt, AddWeatherThere),
}
HELD_OUT: frozenset[tuple[type[Source], type[Act]]] = frozenset(
    {
        (s.MailedCode, TellGroup), (s.EventPlace, MailIt), (s.NotedCode, TextIt),
        (s.PlaceAddress, TextIt), (e.BillDue, NoteIt), (e.TripCode, TextIt),
        (e.ChatPlace, ListIt), (n.PostLikes, TellChat), (n.DishPrice, TellGroup),
        (e.TicketCode, TextIt), (s.PlacePhone, TextIt), (e.ChatTime, WakeAtIt),
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
    (n.PostAuthor, (WriteThem, CallThem)),
    (n.OrderTotal, (AskForIt, TellChat)),
    (n.DishPrice, (NoteIt, TellChat)),
    (c.BiggerBill, (PayTheirBill, TellChat)),
    (e.CheapestFare, (PutItAside, NoteIt)),
)
CORRECTED: tuple[type[Source], ...] = (
    s.MailedCode, s.EventTime, s.PlaceAddress, e.TripCode, e.BillAmount, n.DishPrice,
)  # fmt: skip
CHOICES: tuple[tuple[type[Condition], type[Act], type[Act]], ...] = (
    (k.Rains, SayInChat, CallPerson),
    (k.Rains, NoteThat, SayInChat),
    (k.Rains, CallPerson, NoteThat),
    (k.EventStartsEarly, SayInChat, CallPerson),
    (k.EventStartsEarly, NoteThat, SayInChat),
    (k.PlaceWellRated, SayInChat, NoteThat),
    (k.PlaceWellRated, CallPerson, SayInChat),
    (k.CanAfford, PayPerson, SayInChat),
    (k.CanAfford, CallPerson, NoteThat),
    (k.BillAbove, SayInChat, NoteThat),
    (k.BillAbove, CallPerson, SayInChat),
)
HOPS: tuple[tuple[type[Source], type[Lookup], tuple[type[Act], ...]], ...] = (
    (h.MailedPlace, h.AddressThere, (TellChat, NoteIt)),
    (h.MailedPlace, h.PhoneThere, (TextIt, ListIt)),
    (h.ChatShop, h.AddressThere, (MailIt,)),
    (h.ChatShop, h.PhoneThere, (NoteIt, TextIt)),
    (h.MailedCity, h.HighThere, (BookTomorrow, TellChat)),
    (h.MailedCity, h.FareThere, (PutItAside,)),
    (e.ChatCity, h.HighThere, (WatchThere, NoteIt)),
    (s.MissedCaller, h.TheirBirthday, (WriteThem, NoteIt)),
    (s.MissedCaller, h.LastPaidThem, (TellGroup,)),
    (n.PostAuthor, h.TheirPhone, (NoteIt,)),
    (n.PostAuthor, h.TheirBirthday, (TellGroup,)),
    (h.ReminderSender, h.OpenBill, (PayTheirBill, TellChat)),
    (h.ReminderSender, h.BillDay, (PlanOnIt, TextIt)),
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
HOPPING_TEMPLATES: tuple[type[Template], ...] = tuple(
    compose_two_hops(source, lookup, *acts) for source, lookup, acts in HOPS
)
